/** The texts of an iterable, as many at a time as go to the model in one call. */
import { BATCH_TEXTS } from "./batching.js";

/** UTF-16 units of these texts, up to the last one: what many long texts hold at once stays bounded. */
const BATCH_UNITS = 1 << 19;
/** Milliseconds that a text waits for others at most: together they are read faster. */
const WAIT = 10;

type Texts = AsyncIterable<unknown> | Iterable<unknown>;
type Next = IteratorResult<unknown> | { error: unknown };

/** What an iterable gives, in order. What it throws comes behind what came before. */
export async function* textBatches(texts: Texts): AsyncGenerator<unknown[], void> {
  const source = new Source(texts);
  try {
    while (source.open) {
      const batch = await source.batch();
      if (batch.length) yield batch;
    }
  } finally {
    await source.close();
  }
  if (source.problem) throw source.problem.error;
}

class Source {
  /** Whether it may give more. */
  open = true;
  /** What it has thrown. */
  problem: { error: unknown } | undefined;
  private readonly iterator: AsyncIterator<unknown> | Iterator<unknown>;
  /** What was asked for, and is not here yet. */
  private waiting: Promise<Next> | undefined;

  constructor(texts: Texts) {
    this.iterator = Symbol.asyncIterator in texts ? texts[Symbol.asyncIterator]() : texts[Symbol.iterator]();
  }

  /** The next texts: all that come at once, and at least one, if there is one. */
  async batch(): Promise<unknown[]> {
    const batch: unknown[] = [];
    let late: Promise<undefined> | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    for (let units = 0; batch.length < BATCH_TEXTS && units < BATCH_UNITS; ) {
      this.waiting ??= this.next();
      const next = await (late ? Promise.race([this.waiting, late]) : this.waiting);
      if (!next) break;
      this.waiting = undefined;
      if ("error" in next) this.problem = next;
      if ("error" in next || next.done) {
        this.open = false;
        break;
      }
      batch.push(next.value);
      units += typeof next.value === "string" ? next.value.length : 0;
      late ??= new Promise((done) => (timer = setTimeout(done, WAIT, undefined)));
    }
    clearTimeout(timer);
    return batch;
  }

  /** Tells the iterable that no more is wanted. */
  async close(): Promise<void> {
    if (!this.open) return;
    const closed = (async () => void (await this.iterator.return?.()))();
    // What is still waited for may never come, and then this would not end.
    if (this.waiting) closed.catch(() => {});
    else await closed;
  }

  private async next(): Promise<Next> {
    try {
      const { done, value } = await this.iterator.next();
      return { done: Boolean(done), value: await value };
    } catch (error) {
      return { error };
    }
  }
}
