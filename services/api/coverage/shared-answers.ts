import { sharedResult } from '../../../shared/runtime/shared-result.ts';

/** An answer about 31 days has 0.7 MB. */
const MAX_KEPT = 16;

/** The bytes of answers that do not depend on who asks, shared by all who ask the same while they are fresh. */
export class SharedAnswers {
  private readonly freshMs: number;
  private readonly kept = new Map<string, SharedAnswer>();

  constructor(freshMs: number) {
    this.freshMs = freshMs;
  }

  /** Returns the JSON of the answer; `make` makes it if it is not kept or not fresh. */
  get(key: string, make: () => Promise<object>): Promise<Uint8Array> {
    const entry = this.kept.get(key) ?? new SharedAnswer(make, this.freshMs);
    entry.make = make;
    this.kept.delete(key);
    this.kept.set(key, entry);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MAX_KEPT && oldest !== undefined) this.kept.delete(oldest);
    return entry.ask();
  }
}

class SharedAnswer {
  /** How the latest caller makes it. */
  make: () => Promise<object>;
  readonly ask: () => Promise<Uint8Array>;

  constructor(make: () => Promise<object>, freshMs: number) {
    this.make = make;
    this.ask = sharedResult(async () => Buffer.from(JSON.stringify(await this.make())), freshMs);
  }
}
