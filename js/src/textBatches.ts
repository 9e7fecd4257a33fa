/** Batches the texts of an iterable. */
import { BATCH_TEXTS } from "./batching.js";

/** The maximum UTF-16 units per batch, so that long texts use bounded memory. The last text may exceed it. */
const BATCH_UNITS = 1 << 19;
/** The maximum milliseconds that a text waits for others, because batches are faster. */
const WAIT = 10;

type Texts = AsyncIterable<unknown> | Iterable<unknown>;
type Next = IteratorResult<unknown> | { error: unknown };

/** The values of an iterable, in order. If it throws, the preceding values come first. */
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
  /** Whether more texts may follow. */
  open = true;
  /** The error that it threw. */
  problem: { error: unknown } | undefined;
  private readonly iterator: AsyncIterator<unknown> | Iterator<unknown>;
  /** The pending value. */
  private waiting: Promise<Next> | undefined;

  constructor(texts: Texts) {
    this.iterator = Symbol.asyncIterator in texts ? texts[Symbol.asyncIterator]() : texts[Symbol.iterator]();
  }

  /** The next texts: all that arrive together, at least one if any remain. */
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

  /** Closes the iterable. */
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
