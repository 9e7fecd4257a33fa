/** Many texts, a line each: what they have that means nearly the same as the chosen phrase. */
import { signed } from "./bars.js";

const $ = (name) => document.getElementById(name);
let asked = 0;
let read = false;

/** Offers a field for texts. `model`: reads them, and finds phrases; `again()` is called once they are read. */
export function offerTexts(model, wrong, again) {
  $("texts").hidden = false;
  $("read").onclick = async () => {
    const texts = $("lines").value.split("\n").filter((line) => line.trim());
    $("read").disabled = true;
    try {
      const counts = await model.read(texts);
      read = true;
      $("counts").textContent = `${counts.texts.toLocaleString("en")} texts, ${counts.phrases.toLocaleString("en")} phrases. Choose a phrase above to see the nearest ones.`;
      again();
    } catch (error) {
      wrong(error);
    } finally {
      $("read").disabled = false;
    }
  };
}

/** Shows the phrases of the texts that are nearest to one. */
export async function showNear(model, text) {
  if (!read) return;
  const number = ++asked;
  const hits = await model.near(text).catch(() => []);
  if (number !== asked) return;
  $("near").hidden = !hits.length;
  $("nearest").replaceChildren(
    ...hits.map(({ phrase, sentence, line, polarity, count }) => {
      const item = document.createElement("li");
      const [name, about] = [document.createElement("strong"), document.createElement("span")];
      name.textContent = phrase;
      about.className = "quiet";
      about.textContent = `${polarity === null ? "" : `${signed(polarity)}, `}text ${line}${count > 1 ? ` and ${count - 1} more` : ""}`;
      item.title = sentence;
      item.append(name, " ", about);
      return item;
    }),
  );
}
