import { FORUM_COMMENTS, FORUM_POSTS } from '../../schemas/messages/topics.ts';
import type { PostOfComment, Thing } from '../../shared/forum-client/parse-things.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import { startTopicKeyListener } from '../../shared/kafka/topic-key-listener.ts';
import { randomText } from '../../shared/rules/identifiers.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';

/**
 * A bounded set of the latest fullnames. When it is full the older half is dropped, so it holds from `capacity` / 2 to
 * `capacity` names. Names are added only after the broker's acknowledgement. So a dropped name can cause a duplicate,
 * but never a loss. A name takes 75 bytes.
 */
export class SeenItems {
  private readonly half: number;
  private recent = new Set<string>();
  private older = new Set<string>();

  constructor(capacity: number) {
    this.half = Math.max(1, Math.floor(capacity / 2));
  }

  has(name: string): boolean {
    return this.recent.has(name) || this.older.has(name);
  }

  add(name: string): void {
    if (this.has(name)) return;
    if (this.recent.size >= this.half) {
      this.older = this.recent;
      this.recent = new Set();
    }
    this.recent.add(name);
  }

  get size(): number {
    return this.older.size + this.recent.size;
  }
}

/** A map of the latest keys, bounded in the same way as SeenItems. */
export class RecentMap<V> {
  private readonly half: number;
  private recent = new Map<string, V>();
  private older = new Map<string, V>();

  constructor(capacity: number) {
    this.half = Math.max(1, Math.floor(capacity / 2));
  }

  get(key: string): V | undefined {
    return this.recent.get(key) ?? this.older.get(key);
  }

  set(key: string, value: V): void {
    if (this.recent.size >= this.half) {
      this.older = this.recent;
      this.recent = new Map();
    }
    this.recent.set(key, value);
  }
}

/** Title and NSFW flag of the latest posts, by bare id. */
export class RecentPosts extends RecentMap<PostOfComment> {
  remember(thing: Thing): void {
    if (thing.kind === 't3') this.set(thing.data.id, { title: thing.data.title, nsfw: thing.data.over_18 });
  }
}

/** Each process has its own consumer group and deletes it on stop. */
const GROUP = 'crawler-seen-';

interface SeenElsewhereDeps {
  kafka: KafkaConnection;
  prefix: string;
  /** Called with the fullname of each item that any crawler process publishes. */
  onItem: (name: string) => void;
  fatal: (error: Error) => void;
  logger: Logger;
}

/**
 * Reports what other crawler processes publish, so that this process does not publish it again. It only saves work: a
 * item that is reported late, or never, is published twice, which is harmless.
 */
export function listenForItems({ onItem, ...deps }: SeenElsewhereDeps): Running {
  return startTopicKeyListener({
    ...deps,
    group: GROUP + randomText(12),
    topics: [FORUM_POSTS.name, FORUM_COMMENTS.name],
    onKey: onItem,
    onGap: () => undefined,
  });
}
