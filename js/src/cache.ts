const LONGEST = 100;

/** Caches `compute` by word. The cache is emptied at `limit` words and does not store very long words. */
export function cached<Value>(compute: (word: string) => Value, limit: number = 1 << 17): (word: string) => Value {
  const known = new Map<string, Value>();
  return (word) => {
    const found = known.get(word);
    if (found !== undefined) return found;
    const value = compute(word);
    if (word.length <= LONGEST) {
      if (known.size >= limit) known.clear();
      known.set(word, value);
    }
    return value;
  };
}
