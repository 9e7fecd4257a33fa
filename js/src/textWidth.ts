const WIDTHS = new Map<string, number>();
for (const [width, characters] of [
  [5, "ijlI.,:;'!|`"],
  [7, 'frt()[]{}-"/\\* '],
  [11, "ABCDEFGHJKLNOPQRSTUVXYZ&#$+=<>~"],
  [15, "mwMW@%"],
] as const) {
  for (const character of characters) WIDTHS.set(character, width);
}
const OTHER = 9;
const WIDE = 16;

/** How wide a text of font size 15 is taken to be: wider than common fonts are, and the same everywhere. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += WIDTHS.get(character) ?? widthOf(character.codePointAt(0)!);
  return width;
}

function widthOf(code: number): number {
  const none = (code >= 0x300 && code <= 0x36f) || (code >= 0x200b && code <= 0x200f) || (code >= 0xfe00 && code <= 0xfe0f);
  if (none) return 0;
  return (code >= 0x1100 && code <= 0x115f) || (code >= 0x2600 && code <= 0x27bf) || code >= 0x2e80 ? WIDE : OTHER;
}
