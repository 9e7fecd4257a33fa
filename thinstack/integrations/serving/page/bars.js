/** Numbers and classes for the eye: percents, signs, bars and tones. */

const SIGNS = ["−−", "−", "0", "+", "++"];

/** A probability as whole percents, half of one rounded up, as in drawings. */
export function percent(share) {
  return `${Math.floor(100 * share + 0.5)}%`;
}

/** A number from -1 to 1 with its sign. */
export function signed(number) {
  const digits = Math.abs(number).toFixed(2);
  return digits === "0.00" ? digits : `${number < 0 ? "−" : "+"}${digits}`;
}

/** What a class is called in the style sheet. */
export function toneOf({ tones }, label) {
  return label >= 0 && tones ? `t${tones[label]}` : "plain";
}

/** Fills a bar with the shares of all classes, side by side. */
export function fillBar(bar, model, scores) {
  bar.setAttribute("aria-label", model.labels.map((name, place) => `${name} ${percent(scores[place])}`).join(", "));
  const parts = scores.map((share, place) => {
    const part = document.createElement("span");
    part.className = toneOf(model, place);
    part.style.flexGrow = share;
    part.title = `${model.labels[place]} ${percent(share)}`;
    if (share >= 0.08) part.textContent = model.tones ? SIGNS[model.tones[place]] : model.labels[place];
    return part;
  });
  bar.replaceChildren(...parts);
}

/** What is said of a term: the term in the tone of its class, and the phrase that decides. */
export function aspectLine(model, { text, label, because }) {
  const line = document.createElement("li");
  line.append(markedPhrase(model, text, label), ` ${model.labels[label] ?? "uncertain"}`, because === null ? "" : `: ${because}`);
  return line;
}

/** A phrase in the tone of its class, with its sign. */
export function markedPhrase(model, text, label) {
  const phrase = document.createElement("span");
  phrase.className = toneOf(model, label);
  phrase.title = model.labels[label] ?? "uncertain";
  phrase.textContent = label < 0 ? `? ${text}` : model.tones ? `${SIGNS[model.tones[label]]} ${text}` : text;
  return phrase;
}
