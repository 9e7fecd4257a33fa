/** The panel beside: the chosen phrase, its probabilities, and its label, which the reader may correct. */
import { correct, correctionOf } from "./brackets.js";
import { percent, toneOf } from "./bars.js";

const SEEN = 0.4; // of the panel, for the reader to have it in view
let seen = false;
const $ = (name) => document.getElementById(name);

/** Shows a phrase of a sentence; `changed()` is called when the reader has corrected its label. */
export function showPhrase(model, sentence, node, item, changed) {
  const { start, end, label, scores } = sentence.nodes[node];
  const given = correctionOf(sentence, node);
  $("panel").hidden = false;
  $("phrase").textContent = shortened(sentence.text.slice(start, end));
  const trees = sentence.nodes.length === sentence.transitions.length;
  $("rows").replaceChildren(
    ...model.labels.map((name, place) => {
      const row = rowOf(model, name, place, scores[place], place === (given ?? label));
      const choice = row.querySelector("input");
      choice.disabled = !trees;
      choice.onchange = () => {
        correct(sentence, node, place);
        changed();
        $("rows").querySelectorAll("input")[place].focus(); // the rows are new ones
      };
      return row;
    }),
  );
  $("advice").hidden = !trees || given !== undefined;
  $("corrected").hidden = given === undefined;
  $("corrected").querySelector("span").textContent = `Corrected. The model predicted ${model.labels[label] ?? "uncertain"}.`;
  $("corrected").querySelector("button").onclick = () => {
    correct(sentence, node, label);
    changed();
    $("rows").querySelector("input:checked")?.focus();
  };
  showFold(item);
  const name = model.labels[given ?? label] ?? "uncertain";
  const peek = $("peek").children;
  $("peek").hidden = seen;
  peek[0].textContent = $("phrase").textContent;
  peek[1].textContent = given === undefined && label >= 0 ? `${name} ${percent(scores[label])}` : name;
}

// On narrow screens the panel is below: a line at the foot of the screen says it short until the reader gets there.
const watch = ([{ intersectionRatio }]) => {
  seen = intersectionRatio >= SEEN;
  $("peek").hidden = seen || $("panel").hidden;
};
new IntersectionObserver(watch, { threshold: SEEN }).observe($("panel"));

/** What the button of folding does to an item. */
export function showFold(item) {
  const state = item?.getAttribute("aria-expanded");
  $("fold").hidden = !state;
  $("fold").textContent = state === "false" ? "Unfold this phrase" : "Fold this phrase";
}

/** A class: a choice with its name, a bar, and its probability. */
function rowOf(model, name, place, share, checked) {
  const row = document.createElement("label");
  row.className = "row";
  const choice = Object.assign(document.createElement("input"), { type: "radio", name: "label", value: place, checked });
  const called = Object.assign(document.createElement("span"), { className: "name", textContent: name });
  const bar = Object.assign(document.createElement("span"), { className: "track" });
  const filled = Object.assign(document.createElement("span"), { className: `fill ${toneOf(model, place)}` });
  filled.style.width = `${100 * share}%`;
  bar.append(filled);
  const told = Object.assign(document.createElement("span"), { className: "percent", textContent: percent(share) });
  row.append(choice, called, bar, told);
  return row;
}

function shortened(text) {
  const line = text.replace(/\s+/g, " ");
  return line.length > 400 ? `${line.slice(0, 260)} … ${line.slice(-120)}` : line;
}
