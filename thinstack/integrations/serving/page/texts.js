/** Many texts, a line each: their themes, and what they have that means nearly the same as the chosen phrase. */
import { percent, signed } from "./bars.js";

const SIDES = { negative: "Complaints", positive: "Praise" };

const $ = (name) => document.getElementById(name);
let asked = 0;
let read = false;

/** Offers a field for texts. `model`: reads them, and finds phrases; `again()` is called once they are read, `put(text)` with a theme that the reader takes. */
export function offerTexts(model, wrong, again, put) {
  $("peek").before($("collection").content.cloneNode(true));
  $("read").onclick = async () => {
    const texts = $("lines").value.split("\n").filter((line) => line.trim());
    $("read").disabled = true;
    try {
      const counts = await model.read(texts);
      read = true;
      $("counts").textContent = `${counts.texts.toLocaleString("en")} texts, ${counts.phrases.toLocaleString("en")} phrases. Choose a phrase above to see the nearest ones.`;
      $("themes").replaceChildren(...themeLists(counts.themes, put));
      again();
    } catch (error) {
      wrong(error);
    } finally {
      $("read").disabled = false;
    }
  };
}

function themeLists(themes, put) {
  return Object.entries(SIDES).flatMap(([side, title]) => {
    const some = themes.filter((theme) => theme.side === side);
    if (!some.length) return [];
    const list = document.createElement("ul");
    for (const { name, words, texts, share, quotes } of some) {
      const item = document.createElement("li");
      const take = Object.assign(document.createElement("button"), { type: "button", className: "link", textContent: name, title: quotes[0] ?? "", onclick: () => put(name) });
      const about = Object.assign(document.createElement("span"), { className: "quiet", textContent: ` ${texts.toLocaleString("en")} texts, ${percent(share)}: ${words.join(", ")}` });
      item.append(take, about);
      list.append(item);
    }
    return [Object.assign(document.createElement("h2"), { textContent: title }), list];
  });
}

/** Shows the phrases of the texts that are nearest to one. */
export async function showNear(model, text) {
  if (!read) return;
  const number = ++asked;
  const hits = await model.near(text).catch(() => []);
  if (number !== asked) return;
  $("near").hidden = !hits.length;
  $("nearest").replaceChildren(
    ...hits.map(({ phrase, sentence, text, polarity, count }) => {
      const item = document.createElement("li");
      const [name, about] = [document.createElement("strong"), document.createElement("span")];
      name.textContent = phrase;
      about.className = "quiet";
      about.textContent = `${polarity === null ? "" : `${signed(polarity)}, `}text ${text}${count > 1 ? ` and ${count - 1} more` : ""}`;
      item.title = sentence;
      item.append(name, " ", about);
      return item;
    }),
  );
}
