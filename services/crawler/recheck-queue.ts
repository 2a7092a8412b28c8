/** The smallest share, one of a thousand. */
const LEAST = 0.001;
/** Behind by more than this, the share is lowered; by less than the second, it is raised. */
const BEHIND_MS = 10 * 60_000;
const CAUGHT_UP_MS = 60_000;
const ADAPT_EVERY_MS = 60_000;
/** What is behind by more is skipped: so late a recheck is worth less than those that are due. */
const LOST_MS = 6 * 3_600_000;

const NAMES_PER_CALL = 100;
/** A batch that is not full leaves when its first item has been due for this long. */
const PATIENCE_MS = 30_000;
/** How often pages are read while each fills a batch. */
const READ_MS = 1_000;
/** How often pages are read that do not: what is due waits for others anyway. */
const READ_FEW_MS = 5_000;

export interface DueItem {
  name: string;
  /** Orders the items by when they become due; milliseconds. */
  at: number;
}

type SavedCursor = [at: number, name: string];

export interface Batch {
  names: string[];
  last: DueItem;
}

/**
 * The due items of one age, read page by page from a cursor. Batches follow one another: the cursor passes a batch once
 * it was rechecked, so a restart repeats at most one.
 */
export class RecheckQueue {
  /** The share of all items that is rechecked, so that the budget suffices. */
  share = 1;
  private adaptedAt = Number.NEGATIVE_INFINITY;
  private readonly skips: boolean;
  private readonly waiting: DueItem[] = [];
  private cursor: DueItem;
  private readTo: DueItem;
  private isBusy = false;
  private readAt = Number.NEGATIVE_INFINITY;
  private hasReadFew = false;
  private startedAt = Number.NEGATIVE_INFINITY;

  /** @param skips whether items are left out that have been due for hours */
  constructor([at, name]: SavedCursor, skips: boolean) {
    this.skips = skips;
    this.cursor = { at, name };
    this.readTo = this.cursor;
  }

  get position(): SavedCursor {
    return [this.cursor.at, this.cursor.name];
  }

  /** Adapts the share to how long the next item has been due. */
  adapt(now: number, due: number): void {
    if (now - this.adaptedAt < ADAPT_EVERY_MS) return;
    this.adaptedAt = now;
    const behindMs = due - (this.waiting[0]?.at ?? this.readTo.at);
    if (behindMs > BEHIND_MS) this.share = Math.max(LEAST, this.share * 0.7);
    else if (behindMs < CAUGHT_UP_MS) this.share = Math.min(1, this.share * 1.1);
  }

  /** Where the next page begins; undefined while a batch is full or under way, or soon after the last page. */
  nextPage(now: number, due: number): DueItem | undefined {
    const pauseMs = this.hasReadFew ? READ_FEW_MS : READ_MS;
    if (this.isBusy || this.waiting.length >= NAMES_PER_CALL || now - this.readAt < pauseMs) return undefined;
    const isLost = this.skips && this.waiting.length === 0 && this.readTo.at < due - LOST_MS;
    if (isLost) this.readTo = { at: due - LOST_MS, name: '' };
    return due > this.readTo.at ? this.readTo : undefined;
  }

  /** @param end the limit of what was due: an empty page was read up to here */
  addPage(now: number, items: readonly DueItem[], end: number): void {
    this.readAt = now;
    this.hasReadFew = items.length < NAMES_PER_CALL;
    const first = items[0];
    if (this.waiting.length === 0 && first !== undefined) this.startedAt = now - Math.max(0, end - first.at);
    for (const item of items) this.waiting.push(item);
    this.readTo = items.at(-1) ?? this.readTo;
    if (items.length === 0 && end > this.readTo.at) this.readTo = { at: end, name: '' };
    if (this.waiting.length === 0) this.cursor = this.readTo;
  }

  nextBatch(now: number): Batch | undefined {
    const isFull = this.waiting.length >= NAMES_PER_CALL;
    if (this.isBusy || this.waiting.length === 0) return undefined;
    if (!isFull && now - this.startedAt < PATIENCE_MS) return undefined;
    this.isBusy = true;
    const batch = this.waiting.slice(0, NAMES_PER_CALL);
    return { names: batch.map(({ name }) => name), last: batch.at(-1)! };
  }

  done(now: number, { names, last }: Batch): void {
    this.isBusy = false;
    this.waiting.splice(0, names.length);
    this.startedAt = now;
    this.cursor = last;
  }

  failed(): void {
    this.isBusy = false;
  }
}

/** Answers with fewer items say nothing about the forum as a whole. */
const LEAST_ITEMS = 20;
/** When most of the items of an answer are removed, a later answer has to confirm it. */
const CONFIRM_AFTER_MS = 600_000;
/** How long a confirmation holds: the removal of a whole community fills many answers. */
const CONFIRMED_MS = 3_600_000;

/**
 * A removal cannot be taken back, and one wrong answer of the forum must not blank everything. So an answer in which
 * more than half of the items are newly removed counts only if the forum still says so ten minutes later.
 */
export class RemovalConfirmation {
  private unconfirmedSince: number | undefined;
  private confirmedUntil = Number.NEGATIVE_INFINITY;

  /** Whether an answer counts in which `removed` of `asked` items are newly removed. `now`: milliseconds since 1970. */
  isConfirmed(removed: number, asked: number, now: number): boolean {
    if (removed < LEAST_ITEMS || removed * 2 <= asked) {
      this.unconfirmedSince = undefined;
      return true;
    }
    if (now < this.confirmedUntil) return true;
    this.unconfirmedSince ??= now;
    if (now - this.unconfirmedSince < CONFIRM_AFTER_MS) return false;
    this.unconfirmedSince = undefined;
    this.confirmedUntil = now + CONFIRMED_MS;
    return true;
  }
}
