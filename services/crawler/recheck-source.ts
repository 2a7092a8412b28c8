import { z } from 'zod';
import { bareId } from '../../schemas/messages/forum-item.ts';
import type { forumRemoval } from '../../schemas/messages/forum-item.ts';
import { FORUM_REMOVALS } from '../../schemas/messages/topics.ts';
import {
  findReadableMatches,
  findRemovedItems,
  findSeenAsRemoved,
  readMatchedItems,
} from '../../shared/crawl/crawl-cursors.ts';
import { readSeenItems } from '../../shared/crawl/thread-items.ts';
import { listing, parseAnswer, text } from '../../shared/forum-client/parse-things.ts';
import { UpstreamError } from '../../shared/forum-client/upstream-error.ts';
import { PublishRefused } from '../../shared/kafka/kafka-unavailable.ts';
import type { Publisher } from '../../shared/kafka/publisher.ts';
import { isRemovedText } from '../../shared/matching/rule.ts';
import { retry } from '../../shared/runtime/retry.ts';
import { withoutItems } from './archive-source.ts';
import type { ArchiveSourceDeps } from './archive-source.ts';
import type { Call, CrawlSource, Wait } from './crawl-source.ts';
import { RecheckQueue, RemovalConfirmation } from './recheck-queue.ts';
import type { Batch, DueItem } from './recheck-queue.ts';

const HOUR_MS = 3_600_000;
const AGES_MS = [HOUR_MS, 24 * HOUR_MS];
/** How long the recorder keeps the content of a match from its storing on. */
const KEPT_MS = 33 * 24 * HOUR_MS;
const PAGE = 2_000;
const IDLE_MS = 1_000;

const savedPosition = z.record(z.string(), z.tuple([z.number(), z.string()]));

export interface RecheckSourceDeps extends ArchiveSourceDeps {
  publisher: Pick<Publisher, 'publishAll'>;
  /** Ages at which items are rechecked, in milliseconds; default: an hour and a day. */
  agesMs?: readonly number[] | undefined;
}

/** The items of one age: those with matches, or a share of all. */
interface AgeGroup {
  name: string;
  ageMs: number;
  isMatched: boolean;
  queue: RecheckQueue;
  confirmation: RemovalConfirmation;
}

/**
 * Asks again for items that are an hour and a day old, and publishes a removal for those that were removed. Items with
 * matches are always rechecked, others as far as the budget allows. An item that is missing from the answer is counted
 * and is no removal: the forum leaves items out for other reasons too.
 */
export class RecheckSource implements CrawlSource {
  readonly name = 'rechecks';
  readonly label = 'threads';
  readonly replay = false;
  readonly isPatient = true;
  readonly maxInFlight = 4;
  private readonly deps: RecheckSourceDeps;
  private ageGroups: AgeGroup[] = [];
  private readonly reading = new Set<RecheckQueue>();

  constructor(deps: RecheckSourceDeps) {
    this.deps = deps;
  }

  async begin(position: unknown): Promise<void> {
    const saved = savedPosition.safeParse(position).data ?? {};
    const now = this.deps.clock();
    this.reading.clear();
    const ages = this.deps.agesMs ?? AGES_MS;
    const kinds = [true, false].flatMap((isMatched) => ages.map((ageMs) => ({ isMatched, ageMs })));
    this.ageGroups = kinds.map(({ isMatched, ageMs }) => {
      const name = `${isMatched ? 'matched' : 'all'}-${ageMs / HOUR_MS}`;
      const cursor = saved[name] ?? [dueAt({ isMatched, ageMs }, now), ''];
      const queue = new RecheckQueue(cursor, !isMatched);
      return { name, ageMs, isMatched, queue, confirmation: new RemovalConfirmation() };
    });
  }

  next(now: number): Call | Wait {
    if (!this.deps.isArchiveReady()) return { waitMs: IDLE_MS };
    for (const group of this.ageGroups) {
      const call = this.nextPage(group, now) ?? this.nextBatch(group, now);
      if (call !== undefined) return call;
    }
    return { waitMs: IDLE_MS };
  }

  position(): unknown {
    return Object.fromEntries(this.ageGroups.map(({ name, queue }) => [name, queue.position]));
  }

  async end(): Promise<void> {
    this.ageGroups = [];
  }

  private nextPage(group: AgeGroup, now: number): Call | undefined {
    const { queue } = group;
    const due = dueAt(group, now);
    this.adapt(group, now, due);
    const after = this.reading.has(queue) ? undefined : queue.nextPage(now, due);
    if (after === undefined) return undefined;
    this.reading.add(queue);
    return {
      fetch: async (signal) => {
        const items = await this.readPage(group, after, due, signal);
        const acknowledged = (): void => {
          this.reading.delete(queue);
          queue.addPage(now, items, due);
        };
        return { ...withoutItems(now, acknowledged), isLocal: true };
      },
      failed: () => {
        this.reading.delete(queue);
      },
    };
  }

  private adapt({ isMatched, ageMs, queue }: AgeGroup, now: number, due: number): void {
    if (isMatched) return;
    queue.adapt(now, due);
    this.deps.metrics.crawlerRecheckShare.set({ age: String(ageMs / HOUR_MS) }, queue.share);
  }

  private async readPage(group: AgeGroup, after: DueItem, due: number, signal: AbortSignal): Promise<DueItem[]> {
    const { db, clickhouse } = this.deps;
    if (group.isMatched) {
      const page = { after: { keptUntil: after.at, thingId: after.name }, to: due, limit: PAGE };
      const rows = await readMatchedItems(db, page);
      return rows.map(({ thingId, keptUntil }) => ({ name: thingId, at: keptUntil }));
    }
    const { share } = group.queue;
    const page = { after: { seenAt: after.at, thingId: after.name }, to: due, share, limit: PAGE };
    const rows = await readSeenItems(clickhouse, page, signal);
    return rows.map(({ thingId, seenAt }) => ({ name: thingId, at: seenAt }));
  }

  private nextBatch({ queue, confirmation }: AgeGroup, now: number): Call | undefined {
    const batch = queue.nextBatch(now);
    if (batch === undefined) return undefined;
    return {
      fetch: async (signal) => {
        await this.recheck(batch, confirmation, signal);
        const at = this.deps.clock();
        const acknowledged = (): void => {
          queue.done(at, batch);
        };
        return withoutItems(at, acknowledged);
      },
      failed: () => {
        queue.failed();
      },
    };
  }

  private async recheck({ names }: Batch, confirmation: RemovalConfirmation, signal: AbortSignal): Promise<void> {
    const { upstream, metrics, clickhouse, db } = this.deps;
    const call = { endpoint: 'info', lane: 'recheck', signal } as const;
    const { present, removed } = findRemoved(await upstream.get('/api/info', { id: names.join(',') }, call));
    const nowRemoved = names.filter((name) => removed.has(name));
    const none = new Set<string>();
    const [known, seenAsRemoved, readable] =
      nowRemoved.length === 0
        ? [none, none, none]
        : await Promise.all([
            findRemovedItems(db, nowRemoved),
            findSeenAsRemoved(clickhouse, nowRemoved, signal),
            findReadableMatches(db, nowRemoved),
          ]);
    // Another source may have published an item again after its removal, and the archive shows its last sight.
    const fresh = nowRemoved.filter((name) => !known.has(name) && (readable.has(name) || !seenAsRemoved.has(name)));
    if (!confirmation.isConfirmed(fresh.length, names.length, this.deps.clock())) {
      const reason = 'mass_removal';
      throw new UpstreamError('broken', 'most of the rechecked items are removed; to be confirmed', { reason });
    }
    await this.publish(fresh, signal);
    metrics.crawlerRemovals.inc(fresh.length);
    metrics.crawlerRechecked.inc({ outcome: 'removed' }, fresh.length);
    metrics.crawlerRechecked.inc({ outcome: 'absent' }, names.length - present.size);
    metrics.crawlerRechecked.inc({ outcome: 'kept' }, present.size - fresh.length);
  }

  private async publish(names: readonly string[], signal: AbortSignal): Promise<void> {
    if (names.length === 0) return;
    const { publisher, logger, clock } = this.deps;
    const removedAt = new Date(clock()).toISOString();
    const records = names.map((name) => {
      const removal: z.infer<typeof forumRemoval> = { v: 1, thing_id: name, removed_at: removedAt };
      return { key: name, value: JSON.stringify(removal) };
    });
    await retry(() => publisher.publishAll([{ topic: FORUM_REMOVALS.name, records }]), {
      what: 'publishing removals',
      logger,
      signal,
      isRetryable: (error) => !(error instanceof PublishRefused),
    });
  }
}

/** Matched items are ordered by how long their content is kept, others by their first sight. */
function dueAt({ isMatched, ageMs }: Pick<AgeGroup, 'isMatched' | 'ageMs'>, now: number): number {
  return now - ageMs + (isMatched ? KEPT_MS : 0);
}

/** What the forum says now about items that were asked for by name. */
interface ItemStates {
  /** Fullnames of the items in the answer. */
  present: Set<string>;
  /** Of these, the ones whose author deleted them, or that the forum or a moderator removed. */
  removed: Set<string>;
}

const state = z.object({
  kind: z.enum(['t1', 't3']),
  data: z.object({ id: bareId, body: text, selftext: text, removed_by_category: text }),
});

/**
 * Reads which items were removed. Nothing but the fields that say so is parsed, so a new shape of the rest does not
 * hide a removal. A deleted account alone is none: its comments stay.
 *
 * @throws UpstreamError broken when the answer is no Listing
 */
export function findRemoved(body: unknown): ItemStates {
  const states: ItemStates = { present: new Set(), removed: new Set() };
  for (const child of parseAnswer(listing, body).data.children) {
    const parsed = state.safeParse(child);
    if (!parsed.success) continue;
    const { kind, data } = parsed.data;
    const name = `${kind}_${data.id}`;
    states.present.add(name);
    const content = kind === 't1' ? data.body : data.selftext;
    if (isRemovedText(content) || (kind === 't3' && data.removed_by_category)) states.removed.add(name);
  }
  return states;
}
