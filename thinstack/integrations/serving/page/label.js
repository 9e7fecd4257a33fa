/** The texts of a table, one after the other, the least certain first: a key gives each its label, which is saved at once. */
import { percent } from "./bars.js";

const KEYS = "123456789abcdefghijklmnopqrstuvwxyz";
const $ = (name) => document.getElementById(name);

/** Labels texts in a field. `table`: the labels, the number of texts, and the file; `ask(data)` reads and saves a text; `wrong(error)` shows an error. */
export function label(field, table, ask, wrong) {
  let row;
  let busy = false;
  const { labels, texts, out } = table;
  const show = async (data) => {
    if (busy) return;
    busy = true;
    try {
      row = { ...(await ask(data)), place: data.place };
      if (data.label !== undefined && row.place + 1 < texts) row = { ...(await ask({ place: row.place + 1 })), place: row.place + 1 };
      draw();
    } catch (error) {
      wrong(error);
    } finally {
      busy = false;
    }
  };
  const draw = () => {
    const { place, line, saved, predicted, probability, chosen } = row;
    const known = row.label ? `, ${row.label} in the table` : "";
    $("place").textContent = `Text ${place + 1} of ${texts.toLocaleString("en")}, line ${line}${known}. ${saved.toLocaleString("en")} labeled in ${out}`;
    $("said").textContent = `The model predicts ${predicted} (${percent(probability)}).${labels.includes(predicted) ? " Press Enter to accept." : ""}`;
    $("choices").replaceChildren(
      ...labels.map((name, number) => {
        const button = Object.assign(document.createElement("button"), { type: "button", onclick: () => show({ place, label: name }) });
        button.append(Object.assign(document.createElement("kbd"), { textContent: KEYS[number] }), ` ${name}`);
        button.setAttribute("aria-pressed", String(name === chosen));
        return button;
      }),
    );
    $("back").disabled = place === 0;
    $("skip").disabled = place + 1 === texts;
    if (field.area.value !== row.text) field.put(row.text);
  };
  const moves = { ArrowLeft: () => $("back").click(), ArrowRight: () => $("skip").click(), Enter: () => labels.includes(row.predicted) && show({ place: row.place, label: row.predicted }) };
  $("back").onclick = () => show({ place: row.place - 1 });
  $("skip").onclick = () => show({ place: row.place + 1 });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented || !row) return;
    const name = labels[KEYS.indexOf(event.key)];
    if (event.target.closest("input:not([type=radio]), textarea:not([readonly])")) return;
    if (name !== undefined) show({ place: row.place, label: name });
    else if (!event.target.closest("button, a, input, [role=treeitem]")) moves[event.key]?.();
  });
  field.area.readOnly = true;
  document.body.classList.add("labelling");
  $("labelling").hidden = false;
  return show({ place: 0 });
}
