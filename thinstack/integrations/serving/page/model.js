/** The model of the page, in the thinstack that serves it. */

export const MOST_WORDS = 60; // of a text that is drawn as trees
export const ABOUT = "What you type stays on this machine.";
export const own = false; // it was chosen when the page was served

/** The model's name and classes. */
export function open() {
  return asked("model");
}

/** What the model says of a text, and of terms in it. */
export function predict(text, about) {
  return post("drawing", { text, about });
}

/** The text at a `place` of the table to label, once its `label` is saved if there is one. */
export function row(data) {
  return post("row", data);
}

/** Reads many texts, whose phrases `near` then finds. */
export function read(texts) {
  return post("texts", { texts });
}

/** The phrases of those texts that mean most nearly what a phrase means. */
export function near(text) {
  return post("near", { text });
}

function post(path, data) {
  return asked(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(data) });
}

async function asked(path, request) {
  let answer;
  try {
    answer = await fetch(path, request);
  } catch {
    throw new Error("thinstack does not respond, because it was stopped. Start thinstack serve again.");
  }
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.error);
  return data;
}
