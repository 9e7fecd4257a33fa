/** Probabilities as bars. */

const SIGNS = ["−−", "−", "0", "+", "++"];

/** A probability as whole percents, half of one rounded up, as in drawings. */
export function percent(share) {
  return `${Math.floor(100 * share + 0.5)}%`;
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
