// Tooltips of a graph's nodes: the description and the fields of the output, which the table has.
"use strict";
(() => {
  const box = document.createElement("div");
  box.className = "tooltip";
  box.id = "tooltip";
  box.setAttribute("role", "tooltip");
  box.hidden = true;
  let node = null;

  const hide = () => {
    box.hidden = true;
    if (node) node.removeAttribute("aria-describedby");
    node = null;
  };

  const show = (found) => {
    const about = document.getElementById(`${found.dataset.anchor}-about`);
    if (!about || node === found) return;
    hide();
    node = found;
    box.replaceChildren(...[...about.childNodes].map((each) => each.cloneNode(true)));
    if (!box.isConnected) document.body.append(box);
    box.hidden = false;
    node.setAttribute("aria-describedby", box.id);
    const at = found.getBoundingClientRect(), own = box.getBoundingClientRect();
    const left = Math.min(at.left, innerWidth - own.width - 8);
    const below = at.bottom + 4, fits = below + own.height < innerHeight;
    box.style.setProperty("left", `${Math.max(left, 8) + scrollX}px`);
    box.style.setProperty("top", `${(fits ? below : Math.max(at.top - own.height - 4, 4)) + scrollY}px`);
  };

  const on = (name, act) => document.addEventListener(name, act);
  const nodeOf = (event) => event.target.closest && event.target.closest(".graph a[data-anchor]");
  on("pointerover", (event) => {
    const found = nodeOf(event);
    if (found) show(found);
    else if (!box.contains(event.target)) hide(); // it stays while the pointer is on it
  });
  on("focusin", (event) => {
    const found = nodeOf(event);
    if (found) show(found);
    else hide();
  });
  on("keydown", (event) => { if (event.key === "Escape") hide(); });
})();
