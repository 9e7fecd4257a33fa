/** The page's model, which runs in a worker of this browser, so that typing does not block. */

export const MOST_WORDS = 60; // of a text that is drawn as trees
export const ABOUT = "What you type stays here: the model runs in this browser, and the page works offline.";
export const own = true;

const WORKS = "Chrome or Edge 91, Firefox 89 or Safari 16.4, or later";
// (module (func (result v128) (i8x16.splat (i32.const 0)))
const SIMD = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15, 11];

let worker;
let number = 0;
const waiting = new Map();

/** Opens a model: the bundled one, that of an address on this server, or of files by their names. Throws an Error in words. */
export async function open(place) {
  if (typeof WebAssembly === "undefined" || !WebAssembly.validate(Uint8Array.from(SIMD))) {
    throw new Error(`This browser cannot run the model, because WebAssembly with SIMD is missing or disabled. Use ${WORKS}.`);
  }
  const given = typeof place === "string" ? new URL(place, location.href) : place;
  if (given instanceof URL && given.origin !== location.origin) {
    throw new Error(`${given.href}: expected a bundle on ${location.origin}, because this page uses no other server. Copy it there, or choose it as a folder.`);
  }
  worker ??= started();
  return ask("open", given instanceof Map ? given : (given ?? new URL("__MODEL__/", location.href)).href);
}

/** What the model says of a text, and of terms in it. */
export function predict(text, about) {
  return ask("predict", { text, about, most: MOST_WORDS });
}

/** Once all is loaded: keeps the page for reading offline. */
export function settled() {
  navigator.serviceWorker?.register("sw.js").catch(() => {}); // without it the page works too, online
}

/** Has a button open the dialog for a model of the reader's; `use(place)` takes it. */
export function offer(button, use) {
  const $ = (name) => document.getElementById(name);
  const [dialog, drop] = [$("models"), document.querySelector(".drop")];
  button.hidden = false;
  button.onclick = () => dialog.showModal();
  $("close").onclick = () => dialog.close();
  const take = (place) => {
    dialog.close();
    use(place);
  };
  $("default").onclick = () => take(undefined);
  const choice = drop.querySelector("input");
  choice.onchange = () => {
    take(bundleOf([...choice.files].map((file) => [file.webkitRelativePath || file.name, file])));
    choice.value = "";
  };
  document.ondragover = (event) => {
    event.preventDefault();
    document.body.classList.add("over");
  };
  document.ondragleave = () => document.body.classList.remove("over");
  document.ondrop = async (event) => {
    event.preventDefault();
    document.body.classList.remove("over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (entries.length) take(bundleOf((await Promise.all(entries.map(filesIn))).flat()));
  };
}

/** Files by their names in the folder of the manifest. */
function bundleOf(files) {
  const manifest = files.map(([path]) => path).filter((path) => /(^|\/)manifest\.json$/.test(path)).sort((one, other) => one.length - other.length)[0] ?? "";
  const folder = manifest.replace(/manifest\.json$/, "");
  return new Map(files.filter(([path]) => path.startsWith(folder)).map(([path, file]) => [path.slice(folder.length), file]));
}

/** All files in a folder that was dropped, with their paths. */
async function filesIn(entry) {
  if (entry.isFile) return [[entry.fullPath.replace(/^\//, ""), await new Promise((done, fail) => entry.file(done, fail))]];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (!some.length) return (await Promise.all(found.map(filesIn))).flat();
    found.push(...some);
  }
}

function started() {
  const made = new Worker("worker.js", { type: "module" });
  made.onmessage = ({ data: { id, answer, error } }) => {
    const { done, fail } = waiting.get(id);
    waiting.delete(id);
    if (error) fail(new Error(error));
    else done(answer);
  };
  made.onerror = () => {
    for (const { fail } of waiting.values()) fail(new Error("The model's worker cannot be loaded. Check that worker.js is next to the page, and reload it."));
    waiting.clear();
  };
  return made;
}

function ask(call, given) {
  const id = ++number;
  worker.postMessage({ id, call, given });
  return new Promise((done, fail) => waiting.set(id, { done, fail }));
}
