// Keeps the page as the store is: one stream for all tabs of a browser, and this page read again
// when it says that something has changed. Without this script the page is as it was loaded.
"use strict";
(() => {
  const url = document.body.dataset.stream;
  const channel = new BroadcastChannel("uwf:" + url);
  const SLOW = 5000; // a process that dies says nothing: pages of running threads look by themselves
  let source = null, release = null, busy = false, again = false, last = 0;

  // -- the stream: the visible tab that holds the lock has it, the others listen to that one -------
  function open() {
    source = new EventSource(url);
    source.addEventListener("changed", () => { channel.postMessage("changed"); refresh(); });
  }
  function close() {
    if (source) source.close();
    source = null;
    if (release) release();
    release = null;
  }
  const waiting = { controller: null };
  function lead() {
    if (document.hidden || source || waiting.controller) return;
    if (!navigator.locks) return open();
    waiting.controller = new AbortController();
    navigator.locks.request("uwf:" + url, { signal: waiting.controller.signal }, () => {
      waiting.controller = null;
      if (document.hidden) return undefined;
      open();
      refresh();
      return new Promise((done) => { release = done; });
    }).catch(() => {});
  }
  function leave() {
    if (waiting.controller) waiting.controller.abort();
    waiting.controller = null;
    close();
  }
  channel.onmessage = refresh;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) leave(); else { lead(); refresh(); }
  });
  addEventListener("pagehide", leave);
  addEventListener("pageshow", lead);
  setInterval(() => {
    const running = document.querySelector("[data-running='1']");
    if (running && Date.now() - last > SLOW) refresh();
  }, SLOW);

  // -- the page -------------------------------------------------------------------------------------
  async function refresh() {
    if (document.hidden || !document.querySelector("[data-live]")) return;
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { "accept": "text/html" } });
      if (answer.status === 401) location.reload();
      if (answer.ok) show(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch { /* the server is away: the stream tries again */ }
    last = Date.now();
    busy = false;
    if (again) { again = false; refresh(); }
  }
  function show(fresh) {
    const said = news(fresh), before = news(document);
    document.title = fresh.title;
    merge(document.getElementById("main"), fresh.getElementById("main"));
    if (said && said !== before) document.getElementById("news").textContent = said;
  }
  const news = (page) => page.querySelector("[data-news]")?.dataset.news;

  // A form that somebody fills in, and whatever has the focus, stays as it is.
  const touched = new WeakSet();
  document.addEventListener("input", (event) => { if (event.target.form) touched.add(event.target.form); });
  const keeps = (node) => node.tagName === "FORM" && (touched.has(node) || node.contains(document.activeElement));
  const key = (node) => node.nodeType === 1 ? node.id || node.tagName + (node.dataset.live || "") + (node.getAttribute("action") || "") + (node.getAttribute("href") || "") : "";
  const held = (node) => node.nodeType === 1 && (node === document.activeElement || node.contains(document.activeElement) || keeps(node) || [...node.querySelectorAll("form")].some(keeps));

  function merge(old, fresh) {
    if (old.isEqualNode(fresh) || keeps(old)) return;
    for (const { name, value } of [...fresh.attributes]) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
    let at = old.firstChild;
    for (const wanted of [...fresh.childNodes]) {
      const same = find(at, wanted);
      if (!same) { old.insertBefore(document.importNode(wanted, true), at); continue; }
      while (at && at !== same) {
        const next = at.nextSibling;
        if (!held(at)) at.remove();
        at = next;
      }
      at = same.nextSibling;
      if (same.nodeType === 1) merge(same, wanted);
      else if (same.data !== wanted.data) same.data = wanted.data;
    }
    while (at) { const next = at.nextSibling; if (!held(at)) at.remove(); at = next; }
  }
  function find(from, wanted) {
    for (let node = from; node; node = node.nextSibling) {
      if (node.nodeType === wanted.nodeType && key(node) === key(wanted)) return node;
      if (held(node)) return null;
    }
    return null;
  }

  lead();
})();
