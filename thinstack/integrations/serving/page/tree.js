/** Trees that are read by pointer, keyboard and screen readers: a drawing's, and those of coloured text. */

const SIGNS = ["−−", "−", "0", "+", "++"];

/** A drawing as an element. Its own styles and handlers are left out: the page's policy forbids them. */
export function treeOf(svg) {
  const bare = svg.replace(/<style>[^]*?<\/style>/, "").replace(/ on(click|keydown)="[^"]*"/g, "");
  return document.importNode(new DOMParser().parseFromString(bare, "image/svg+xml").documentElement, true);
}

/** Coloured text as an element whose sentences are trees of its marked phrases. */
export function textOf(html, sentences) {
  const bare = html.replace(/<style>[^]*?<\/style>/, "");
  const found = new DOMParser().parseFromString(bare, "text/html").body.firstElementChild;
  [...found.children].forEach((line, place) => {
    const { text, nodes } = sentences[place];
    line.setAttribute("role", "tree");
    const whole = document.createElement("span");
    whole.className = "whole";
    whole.dataset.node = nodes.length - 1;
    whole.append(...line.childNodes);
    line.append(whole);
    for (const item of line.querySelectorAll("[data-node]")) {
      const { start, end } = nodes[item.dataset.node];
      item.setAttribute("role", "treeitem");
      item.setAttribute("aria-label", text.slice(start, end));
    }
  });
  return document.importNode(found, true);
}

/** Makes the trees in an element answer; `choose(sentence, node)` is called for what the reader chooses. */
export function listen(picture, choose) {
  const trees = [...picture.querySelectorAll("[role=tree]")];
  trees.forEach((tree, place) => tree.setAttribute("aria-label", `Sentence ${place + 1} of ${trees.length}`));
  for (const item of items(picture)) item.setAttribute("tabindex", "-1");
  const chosen = (item) => {
    mark(picture, item);
    choose(trees.indexOf(item.closest("[role=tree]")), Number(item.dataset.node));
  };
  picture.onclick = ({ target }) => {
    const item = target.closest("[role=treeitem]");
    if (!item) return;
    item.focus({ preventScroll: true });
    chosen(item);
  };
  picture.ondblclick = ({ target }) => fold(target.closest("[role=treeitem]"));
  picture.onkeydown = (event) => {
    const item = event.target.closest?.("[role=treeitem]");
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = moved(picture, item, event.key);
    if (next === undefined) return;
    event.preventDefault();
    if (next === null) return;
    next.focus();
    chosen(next);
  };
}

/** Marks the chosen phrase, which alone is a stop of the tabulator key. */
export function mark(picture, item) {
  for (const each of picture.querySelectorAll("[role=treeitem][tabindex='0'], [aria-selected]")) {
    each.setAttribute("tabindex", "-1");
    each.removeAttribute("aria-selected");
  }
  item?.setAttribute("tabindex", "0");
  item?.setAttribute("aria-selected", "true");
}

/** The item of a phrase, if it is drawn. */
export function itemOf(picture, sentence, node) {
  const found = picture.querySelectorAll("[role=tree]")[sentence]?.querySelectorAll(`[data-node="${node}"]`);
  return found?.[found.length - 1]; // of coloured text the phrase itself, not the line that has all of it
}

/** Closes or opens a phrase. */
export function fold(item, open = item?.getAttribute("aria-expanded") === "false") {
  if (item?.hasAttribute("aria-expanded")) item.setAttribute("aria-expanded", String(open));
}

/** Draws a phrase with another label; `tones`: of the classes, where they are a scale. */
export function relabel(item, { label, name, tones, corrected }) {
  const tone = label >= 0 && tones ? `t${tones[label]}` : "plain";
  item.setAttribute("class", [tone, ...(corrected ? ["corrected"] : [])].join(" "));
  const sign = label >= 0 && tones ? SIGNS[tones[label]] : tones ? "?" : name;
  if (item.dataset.sign !== undefined) item.dataset.sign = sign;
  const drawn = item.querySelector(":scope > .sign");
  if (!drawn) return;
  drawn.textContent = sign;
  item.setAttribute("aria-label", `${name}: ${item.getAttribute("aria-label").split(": ").slice(1).join(": ")}`);
  const [node, width] = [item.querySelector(":scope > rect"), Math.max(22, drawn.getComputedTextLength() + 10)];
  node.setAttribute("x", Number(drawn.getAttribute("x")) - width / 2);
  node.setAttribute("width", width);
}

function items(picture) {
  return [...picture.querySelectorAll("[role=treeitem]")];
}

/** Where a key leads: an item, null where it did something else or leads nowhere, undefined for other keys. */
function moved(picture, item, key) {
  const seen = () => items(picture).filter((each) => !each.parentElement.closest("[aria-expanded=false]"));
  const beside = (step) => seen()[seen().indexOf(item) + step] ?? null;
  const above = item.parentElement.closest("[role=treeitem]");
  const closed = item.getAttribute("aria-expanded");
  switch (key) {
    case "ArrowDown": return beside(1);
    case "ArrowUp": return beside(-1);
    case "Home": return seen()[0];
    case "End": return seen().pop();
    case "ArrowRight":
      if (closed === "false") return void fold(item) ?? null;
      return item.querySelector("[role=treeitem]");
    case "ArrowLeft":
      if (closed === "true") return void fold(item) ?? null;
      return above;
    case "Enter":
    case " ": return void fold(item) ?? null;
    default: return undefined;
  }
}
