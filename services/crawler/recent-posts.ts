import type { Thing } from '../../shared/upstream/parsing/thing-schema.ts';
import type { PostOfComment } from '../../shared/upstream/parsing/thing-to-forum-item.ts';

/** Title and NSFW flag of the latest posts, bounded in the same way as SeenThings. */
export class RecentPosts {
  private readonly half: number;
  private recent = new Map<string, PostOfComment>();
  private older = new Map<string, PostOfComment>();

  constructor(capacity: number) {
    this.half = Math.max(1, Math.floor(capacity / 2));
  }

  /** By bare id. */
  get(postId: string): PostOfComment | undefined {
    return this.recent.get(postId) ?? this.older.get(postId);
  }

  remember(thing: Thing): void {
    if (thing.kind !== 't3') return;
    if (this.recent.size >= this.half) {
      this.older = this.recent;
      this.recent = new Map();
    }
    this.recent.set(thing.data.id, { title: thing.data.title, nsfw: thing.data.over_18 });
  }
}
