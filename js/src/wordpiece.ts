/** BERT's uncased basic tokenizer. */

const IDEOGRAPHS =
  /[\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\u{20000}-\u{2A6DF}\u{2A700}-\u{2B81F}\u{2B920}-\u{2CEAF}\u{2F800}-\u{2FA1F}]/gu;

/** Lower-case parts without accents, and single punctuation marks. Control characters are removed. */
export function parts(text: string): string[] {
  if (/^[a-z0-9]+$/.test(text)) return [text];
  const cleaned = text
    .replace(/[\p{Z}\t\n\r]/gu, " ")
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu, "")
    .replace(IDEOGRAPHS, " $& ");
  const bare = cleaned.normalize("NFD").replace(/\p{Mn}/gu, "");
  // Lower-cased one by one: the final sigma of a Greek word is no special case.
  const lower = Array.from(bare, (character) => character.toLowerCase());
  // All ASCII symbols count as punctuation.
  const isolated = lower.map((character) => (/^[\p{P}$+<=>^`|~]/u.test(character) ? ` ${character} ` : character));
  return isolated.join("").split(" ").filter(Boolean);
}
