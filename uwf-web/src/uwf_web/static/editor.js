// The editor: checks the text while it is written. Without this script, the buttons do the same.
"use strict";
(() => {
  const form = document.getElementById("editor");
  if (!form) return;
  const text = document.getElementById("text");
  const section = document.getElementById("check");
  const said = document.getElementById("news");
  const place = document.getElementById("place");
  const WAIT_MS = 400, QUIET_MS = 1500;
  let timer = 0, quiet = 0, running = null, checked = text.value, saved = text.value;

  const go = (line, column) => {
    const lines = text.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    const row = lines[line - 1] || "";
    const start = before + [...row].slice(0, column - 1).join("").length;
    const word = /^[\w$.-]+/.exec(text.value.slice(start));
    text.focus();
    text.setSelectionRange(start, start + (word ? word[0].length : 1));
    text.scrollTop = (line - 5) * parseFloat(getComputedStyle(text).lineHeight);
  };

  const show = (html) => {
    const held = section.contains(document.activeElement);
    if (held) return; // never replace what a person has focused; the next change shows it
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    section.replaceChildren(fresh.content);
    clearTimeout(quiet);
    quiet = setTimeout(() => {
      const verdict = document.getElementById("verdict");
      if (verdict && verdict.textContent.trim() !== said.textContent) {
        said.textContent = verdict.textContent.trim();
      }
    }, QUIET_MS);
  };

  const check = async () => {
    if (text.value === checked) return;
    checked = text.value;
    if (running) running.abort();
    running = new AbortController();
    try {
      const answer = await fetch(form.dataset.check, {
        method: "POST", body: new URLSearchParams(new FormData(form)), signal: running.signal,
      });
      if (answer.ok) show(await answer.text());
    } catch (error) {
      if (error.name !== "AbortError") checked = null; // the server is away: try with the next key
    }
  };

  const where = () => {
    const before = text.value.slice(0, text.selectionStart).split("\n");
    place.textContent = `Line ${before.length}, column ${[...before.at(-1)].length + 1}.`;
  };

  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(check, WAIT_MS);
  });
  for (const name of ["input", "keyup", "click"]) text.addEventListener(name, where);
  text.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "s") {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  section.addEventListener("click", (event) => {
    const link = event.target.closest("[data-line]");
    if (!link) return;
    event.preventDefault();
    go(Number(link.dataset.line), Number(link.dataset.column));
  });
  form.addEventListener("submit", () => { saved = text.value; });
  addEventListener("beforeunload", (event) => {
    if (text.value !== saved) event.preventDefault();
  });
})();
