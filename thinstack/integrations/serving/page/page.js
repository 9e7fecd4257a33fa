/** The page: fields, the panel, and the model, which `model.js` has: in this browser, or on this machine. */
import { forget, save } from "./brackets.js";
import { Field } from "./field.js";
import { label } from "./label.js";
import * as own from "./model.js";
import { showFold, showPhrase } from "./panel.js";
import { offerTexts, showNear } from "./texts.js";

const EXAMPLES = {
  "a turn": "The acting is strong, but the plot never quite comes together.",
  "a negation": "It is not a bad film, and nobody will leave it unmoved.",
  "a review": "A wonderful first hour. The second half is far too long, though, and the music is awful. Still, I would watch it again.",
};
const COMPARED = "The plot never quite comes together, but the acting is strong.";

const $ = (name) => document.getElementById(name);
const fields = [];
let active;

const page = { model: null, view: "tree", most: own.MOST_WORDS, examples: EXAMPLES, predict: own.predict, chosen, shown, wrong };

/** Shows the chosen phrase of a field in the panel. */
function chosen(field) {
  active = field;
  for (const each of fields) if (each !== field) each.item?.removeAttribute("aria-selected");
  const { sentence, node } = field.chosen;
  showPhrase(page.model, field.answer.sentences[sentence], node, field.item, () => {
    for (const each of fields) {
      each.answer?.sentences.forEach((one, place) => one.text === field.answer.sentences[sentence].text && each.relabel(place, node));
    }
    chosen(field);
  });
  const { start, end } = field.answer.sentences[sentence].nodes[node];
  if (page.model.vectors) showNear(own, field.answer.sentences[sentence].text.slice(start, end));
  const trees = fields.map((each) => each.brackets());
  const count = trees.reduce((sum, each) => sum + each.count, 0);
  $("save").hidden = !trees.some(({ lines }) => lines.length);
  $("save").textContent = count ? `Save as brackets (${count} corrected)` : "Save trees as brackets";
}

function shown(field) {
  $("alert").hidden = true;
  if (field.answer.sentences.length) chosen(field);
  else if (field === active) $("panel").hidden = $("peek").hidden = true;
  $("status").textContent = field.said;
  const long = fields.every(({ answer }) => answer?.svg === null);
  document.querySelector("[data-view=tree]").disabled = long;
  pressed();
}

function wrong(error) {
  $("alert").textContent = error.message;
  $("alert").hidden = false;
}

function pressed() {
  for (const button of document.querySelectorAll("[data-view]")) {
    const tree = page.view === "tree" && !document.querySelector("[data-view=tree]").disabled;
    button.setAttribute("aria-pressed", String(tree === (button.dataset.view === "tree")));
  }
}

function addField(text) {
  const field = new Field(page, text);
  field.area.disabled = !page.model;
  fields.push(field);
  $("fields").append(field.element);
  document.body.classList.toggle("comparing", fields.length > 1);
  fields.forEach(({ area }, place) => area.setAttribute("aria-label", fields.length > 1 ? `Text ${place + 1}` : "Text"));
  fields.forEach((each) => each.fit());
  return field;
}

function compare() {
  if (fields.length > 1) {
    fields.pop().element.remove();
    document.body.classList.remove("comparing");
    fields[0].fit();
    if (fields[0].answer?.sentences.length) chosen(fields[0]);
  } else {
    addField(COMPARED).ask();
  }
  $("compare").setAttribute("aria-pressed", String(fields.length > 1));
}

/** Opens a model and asks it; an error is shown, and the model before it stays. */
async function use(place) {
  $("status").textContent = "Loading the model.";
  $("loaded").textContent = "Loading the model…";
  try {
    page.model = await own.open(place);
  } finally {
    $("loaded").textContent = page.model ? `Model: ${page.model.name}` : "";
  }
  forget();
  for (const field of fields) field.area.disabled = false;
  if (page.model.vectors) offerTexts(own, wrong, () => active && chosen(active), (text) => fields[0].put(text));
  const table = page.model.labelling;
  await (table ? label(fields[0], table, own.row, wrong) : Promise.all(fields.map((field) => field.ask())));
}

async function start() {
  $("about").textContent = own.ABOUT;
  const query = new URLSearchParams(location.search);
  addField(query.get("text") ?? EXAMPLES["a turn"]);
  try {
    await use(query.get("model") ?? undefined);
  } catch (error) {
    wrong(error);
    if (!query.get("model") || !own.own) return;
    await use().then(() => wrong(new Error(`${error.message} The bundled model is used instead.`)), () => {});
  }
  own.settled?.();
}

for (const button of document.querySelectorAll("[data-view]")) {
  button.onclick = () => {
    page.view = button.dataset.view;
    pressed();
    for (const field of fields) if (field.answer) field.draw();
    if (active?.answer.sentences.length) chosen(active);
  };
}
window.addEventListener("resize", () => fields.forEach((field) => field.fit()));
$("compare").onclick = compare;
$("fold").onclick = () => {
  active.fold();
  showFold(active.item);
};
$("fields").addEventListener("dblclick", () => showFold(active?.item));
$("fields").addEventListener("keydown", () => showFold(active?.item));
$("save").onclick = () => save("trees.txt", `${fields.flatMap((field) => field.brackets().lines).join("\n")}\n`);
own.offer?.($("own"), (place) => use(place).catch(wrong));
start();
