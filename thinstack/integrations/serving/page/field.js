/** A text that is typed, and what the model says of it below: a verdict, and a tree or the coloured text. */
import { brackets, corrected, correctionOf } from "./brackets.js";
import { aspectLine, fillBar, markedPhrase, percent, signed } from "./bars.js";
import { fold, itemOf, listen, mark, relabel, textOf, treeOf } from "./tree.js";

const WAIT = 120; // milliseconds without a key before the model is asked
const SMALLEST = 0.78; // of a tree's own size
const HINTS = {
  tree: "Click a phrase to see its scores, or double-click to fold it. With the keyboard, use the arrow keys and Enter.",
  text: "Colored phrases differ from the text around them. Click one to see its scores.",
};

export class Field {
  /** What is shown: what the model says of the text; undefined before. */
  answer;
  /** The chosen phrase of it. */
  chosen = { sentence: 0, node: 0 };
  #asked = 0;
  #timer;

  /** `page`: the model, `predict(text)`, the view, and what to call when something is chosen, shown or wrong. */
  constructor(page, text) {
    this.page = page;
    this.element = document.getElementById("field").content.firstElementChild.cloneNode(true);
    const $ = (selector) => this.element.querySelector(selector);
    [this.area, this.about, this.verdict, this.picture, this.hint] = [$("textarea"), $(".about input"), $(".verdict"), $(".picture"), $(".hint")];
    this.area.value = text;
    this.area.oninput = this.about.oninput = () => {
      this.fit();
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.ask(), WAIT);
    };
    $(".examples").onclick = ({ target }) => {
      const text = page.examples[target.textContent];
      if (text) this.put(text);
    };
  }

  /** Takes a text over at once. */
  put(text) {
    this.area.value = text;
    this.fit();
    return this.ask();
  }

  /** As high as its text, within limits. */
  fit() {
    this.area.style.height = "auto";
    this.area.style.height = `${Math.min(this.area.scrollHeight + 2, 320)}px`;
  }

  /** Asks the model; an answer that another text has overtaken is dropped. */
  async ask() {
    clearTimeout(this.#timer);
    this.about.parentElement.hidden = !this.page.model.about;
    const number = ++this.#asked;
    this.element.setAttribute("aria-busy", "true");
    try {
      const terms = this.page.model.about ? this.about.value.split(",").map((term) => term.trim()).filter(Boolean) : [];
      const answer = await this.page.predict(this.area.value, terms);
      if (number === this.#asked) this.show(answer);
    } catch (error) {
      if (number === this.#asked) this.page.wrong(error);
    } finally {
      if (number === this.#asked) this.element.removeAttribute("aria-busy");
    }
  }

  show(answer) {
    this.answer = answer;
    const { sentences } = answer;
    for (const part of [this.verdict, this.picture, this.hint]) part.hidden = !sentences.length;
    this.chosen = { sentence: 0, node: sentences.length ? sentences[0].nodes.length - 1 : 0 };
    if (sentences.length) this.#showVerdict();
    this.draw();
    this.page.shown(this);
  }

  /** Draws the tree, or the text where it is too long for one or the reader wants it. */
  draw() {
    const { sentences, svg, html } = this.answer;
    if (!sentences.length) return this.picture.replaceChildren();
    const kind = svg === null || this.page.view === "text" ? "text" : "tree";
    this.picture.className = `picture ${kind} ${sentences.length === 1 ? "one" : "several"}`;
    this.picture.replaceChildren(kind === "tree" ? treeOf(svg) : textOf(html, sentences));
    listen(this.picture, (sentence, node) => {
      this.chosen = { sentence, node };
      this.page.chosen(this);
    });
    this.hint.textContent = svg === null ? `${HINTS.text} Trees are shown for texts of up to ${this.page.most} words.` : HINTS[kind];
    sentences.forEach((each, sentence) => corrected(each).forEach((node) => this.relabel(sentence, node)));
    mark(this.picture, this.item);
    if (kind === "tree") this.#place();
  }

  /** A tree that is too wide is a little smaller, and starts at what is chosen. */
  #place() {
    const drawing = this.picture.firstElementChild;
    drawing.style.minWidth = `${SMALLEST * Number(drawing.getAttribute("width"))}px`;
    if (this.picture.scrollWidth > this.picture.clientWidth) this.hint.prepend("Scroll sideways to see the whole tree. ");
    const [node, around] = [this.item.querySelector("rect"), this.picture].map((each) => each.getBoundingClientRect());
    this.picture.scrollLeft += node.left + node.width / 2 - around.left - around.width / 2;
  }

  /** The chosen phrase, as it is drawn. */
  get item() {
    return itemOf(this.picture, this.chosen.sentence, this.chosen.node);
  }

  /** Draws a phrase as the reader, or else the model, labels it. */
  relabel(sentence, node) {
    const { model } = this.page;
    const item = itemOf(this.picture, sentence, node);
    const given = correctionOf(this.answer.sentences[sentence], node);
    const label = given ?? this.answer.sentences[sentence].nodes[node].label;
    if (item && !item.classList.contains("whole")) relabel(item, { label, name: model.labels[label] ?? "uncertain", tones: model.tones, corrected: given !== undefined });
  }

  fold() {
    fold(this.item);
    this.item.focus();
  }

  /** The trees of its sentences in brackets, and how many of their phrases were corrected. */
  brackets() {
    const sentences = this.answer?.sentences.filter(({ nodes, transitions }) => nodes.length === transitions.length) ?? [];
    return { lines: sentences.map(brackets), count: sentences.reduce((sum, each) => sum + corrected(each).length, 0) };
  }

  /** The verdict in words. */
  get said() {
    if (!this.answer?.sentences.length) return "No words yet.";
    const { label, scores } = this.answer;
    return `${this.page.model.labels[label] ?? "uncertain"}, ${percent(Math.max(...scores))}`;
  }

  #showVerdict() {
    const { label, polarity, scores, highlights, aspects, sentences } = this.answer;
    const { model } = this.page;
    const words = sentences.reduce((sum, each) => sum + each.words.length, 0);
    const counted = (count, name) => `${count.toLocaleString("en")} ${name}${count === 1 ? "" : "s"}`;
    const [strong, share, quiet] = ["strong", ".share", ".quiet"].map((each) => this.verdict.querySelector(each));
    strong.textContent = model.labels[label] ?? "uncertain";
    share.textContent = percent(Math.max(...scores));
    quiet.textContent = `${counted(sentences.length, "sentence")}, ${counted(words, "word")}`;
    this.verdict.querySelector(".polarity").textContent = polarity === null ? "" : `polarity ${signed(polarity)}`;
    fillBar(this.verdict.querySelector(".bar"), model, scores);
    this.verdict.querySelector(".highlights").hidden = !highlights.length;
    this.verdict.querySelector(".highlights span").replaceChildren(...highlights.map(({ text, label }) => markedPhrase(model, text, label)));
    this.verdict.querySelector(".aspects").replaceChildren(...(aspects ?? []).map((aspect) => aspectLine(model, aspect)), ...(aspects?.length === 0 ? ["No aspects."] : []));
  }
}
