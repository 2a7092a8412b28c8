import { DEAD_LETTER_SUFFIX } from '../../schemas/messages/topics.ts';
import { parseThing } from '../../shared/forum-client/parse-things.ts';
import { postIdOfMalformed, toItemLetter } from '../../shared/forum-client/malformed-item.ts';
import type { MalformedItem } from '../../shared/forum-client/malformed-item.ts';
import { PublishRefused } from '../../shared/kafka/kafka-unavailable.ts';
import type { Publisher, TopicRecords } from '../../shared/kafka/publisher.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { retry } from '../../shared/runtime/retry.ts';
import { SOURCE_LABELS } from './crawl-source.ts';
import type { RecentPosts } from './seen-items.ts';

/** About a megabyte of names. */
const REMEMBERED = 10_000;
/**
 * Letters a minute, at about 4 KB each. If the forum changes the shape of everything, they take at most 6 GB of the
 * broker's disk a day.
 */
const LETTERS_A_MINUTE = 1_000;
const MINUTE_MS = 60_000;

interface MalformedItemsDeps {
  publisher: Pick<Publisher, 'publishAll'>;
  posts: Pick<RecentPosts, 'get'>;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
}

/**
 * Keeps items of unknown shape as dead letters of their topic, each name once while it is remembered. An item without
 * a name is kept each time that it is received.
 */
export class MalformedItems {
  private readonly deps: MalformedItemsDeps;
  /** Names whose letters are published or being published, oldest first. */
  private readonly kept = new Set<string>();
  private minute = 0;
  private letters = 0;

  constructor(deps: MalformedItemsDeps) {
    this.deps = deps;
    // A counter that begins at 1 has not increased: without these zeros the first letter would raise no alert.
    for (const source of SOURCE_LABELS) deps.metrics.crawlerMalformed.inc({ source, outcome: 'kept' }, 0);
  }

  /** Resolves when the broker has every letter. Waits while the broker is unavailable. */
  async keep(items: readonly MalformedItem[], seenAt: number, source: string, signal: AbortSignal): Promise<void> {
    const chosen = items.filter((item) => this.choose(item, source));
    if (chosen.length === 0) return;
    const letters = chosen.map((item) => {
      const parsed = parseThing(item.raw, '');
      const fault = parsed.outcome === 'fault' ? parsed.fault : { path: '', message: 'has an unknown shape' };
      const postId = postIdOfMalformed(item);
      const post = postId === undefined ? undefined : this.deps.posts.get(postId);
      return toItemLetter(item, fault, { source, firstSeenAt: seenAt, post });
    });
    const byTopic = Map.groupBy(letters, ({ topic }) => topic + DEAD_LETTER_SUFFIX);
    const topics = [...byTopic].map(([topic, group]) => ({ topic, records: group.map(({ record }) => record) }));
    try {
      await this.publish(topics, signal);
    } catch (error) {
      for (const { name } of chosen) if (name !== undefined) this.kept.delete(name);
      throw error;
    }
    this.deps.metrics.crawlerMalformed.inc({ source, outcome: 'kept' }, chosen.length);
  }

  private async publish(topics: readonly TopicRecords[], signal: AbortSignal): Promise<void> {
    await retry(() => this.deps.publisher.publishAll(topics), {
      what: 'publishing items of unknown shape as dead letters',
      logger: this.deps.logger,
      signal,
      isRetryable: (error) => !(error instanceof PublishRefused),
    });
  }

  private choose({ name }: MalformedItem, source: string): boolean {
    const outcome = this.outcomeOf(name);
    if (outcome !== 'kept') {
      this.deps.metrics.crawlerMalformed.inc({ source, outcome });
      return false;
    }
    this.letters += 1;
    if (name !== undefined) this.remember(name);
    return true;
  }

  private outcomeOf(name: string | undefined): 'kept' | 'known' | 'beyond_limit' {
    if (name !== undefined && this.kept.has(name)) return 'known';
    const minute = Math.floor(this.deps.clock() / MINUTE_MS);
    if (minute !== this.minute) {
      this.minute = minute;
      this.letters = 0;
    }
    if (this.letters < LETTERS_A_MINUTE) return 'kept';
    if (this.letters === LETTERS_A_MINUTE) {
      this.letters += 1;
      this.deps.logger.error({ limit: LETTERS_A_MINUTE }, 'too many items have an unknown shape; not all are kept');
    }
    return 'beyond_limit';
  }

  private remember(name: string): void {
    if (this.kept.size >= REMEMBERED) this.kept.delete(this.kept.values().next().value!);
    this.kept.add(name);
  }
}
