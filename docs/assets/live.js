/** The live tree of the home page: the npm package in a worker, with the files that the site's build copies from js/demo to live/. */
const files = new URL("live/", location.href);
const form = document.querySelector("form.live");
const [area, status, drawing] = ["textarea", "[role=status]", ".live-tree"].map((part) => form.querySelector(part));
const picture = document.querySelector('img[src$="tree.svg"]');
const EXAMPLE = area.value;

let worker, labels, timer;
let number = 0;
const waiting = new Map();

/** What the worker answers. A page that it cannot run on keeps its picture. */
function ask(call, given) {
  const id = ++number;
  worker.postMessage({ id, call, given });
  return new Promise((done, fail) => waiting.set(id, { done, fail }));
}

async function start() {
  status.textContent = "Loading the model (19 MB, once) ...";
  worker = new Worker(new URL("worker.js", files), { type: "module" });
  worker.onmessage = ({ data: { id, answer, error } }) => {
    const { done, fail } = waiting.get(id);
    waiting.delete(id);
    if (error) fail(new Error(error));
    else done(answer);
  };
  worker.onerror = () => (status.textContent = "The model cannot be loaded in this browser.");
  ({ labels } = await ask("open", new URL("sentiment/", files).href));
}

let started;
async function draw() {
  try {
    await (started ??= start());
    const text = area.value.trim() || EXAMPLE;
    const { svg, html, label, polarity } = await ask("predict", { text, about: [], most: 60 });
    if (text !== (area.value.trim() || EXAMPLE)) return; // typed over meanwhile
    drawing.innerHTML = svg ?? html;
    picture?.remove();
    status.textContent = label < 0 ? "No words yet." : `${labels[label]}, polarity ${polarity.toFixed(2).replace("-", "−")}`;
  } catch (error) {
    status.textContent = error.message;
  }
}

form.onsubmit = (event) => event.preventDefault();
area.onfocus = () => (started ??= start()).then(draw, (error) => (status.textContent = error.message));
area.oninput = () => {
  clearTimeout(timer);
  timer = setTimeout(draw, 150);
};
// A folder that was built without js/demo, or is opened as a file, has no model: the picture stays.
fetch(new URL("worker.js", files), { method: "HEAD" })
  .then(({ ok }) => (form.hidden = !ok))
  .catch(() => {});
