import type { Comment } from '../../../../schemas/messages/forum-post.ts';
import type { MoreStub, ParsedComments } from '../../../../shared/upstream/parsing/parse-comment-tree.ts';
import type { HeldComments } from './comment-tree.ts';

/**
 * What is held of a thread while more of it is fetched. Nothing is asked for twice, whatever the forum answers, so the
 * number of calls is bounded by what it names.
 */
export class HeldThread {
  private readonly comments: Comment[];
  private readonly ids: Set<string>;
  private stubs: MoreStub[];
  /** Parents of what was asked for and did not come, by bare id. */
  private readonly missing: Map<string, string>;
  /** Fullnames of comments below which more was asked for. */
  private readonly followed = new Set<string>();

  constructor(held: HeldComments) {
    this.comments = [...held.comments];
    this.ids = new Set(this.comments.map(({ id }) => id));
    this.stubs = [...held.stubs];
    this.missing = new Map(held.missing.map(({ id, parentId }) => [id, parentId]));
  }

  get size(): number {
    return this.ids.size;
  }

  get hasOpenStubs(): boolean {
    return this.stubs.length > 0;
  }

  /** A copy of it as plain data. */
  snapshot(): HeldComments {
    const missing = [...this.missing].map(([id, parentId]) => ({ id, parentId }));
    return { comments: [...this.comments], stubs: [...this.stubs], missing };
  }

  /** An answer to `asked`; stubs of it are closed, and what they named and did not come is missing from now on. */
  add(found: Pick<ParsedComments, 'comments' | 'stubs'>, asked: MoreStub | undefined): void {
    for (const comment of found.comments) {
      if (this.ids.has(comment.id)) continue;
      this.ids.add(comment.id);
      this.missing.delete(comment.id);
      this.comments.push(comment);
    }
    if (asked?.childIds.length === 0) this.followed.add(asked.parentId);
    const named = new Set(asked?.childIds);
    for (const { parentId, childIds } of this.stubs) {
      for (const id of childIds) if (named.has(id) && !this.ids.has(id)) this.missing.set(id, parentId);
    }
    this.stubs = [...this.stubs, ...found.stubs].flatMap((stub) => this.stillOpen(stub));
  }

  private stillOpen(stub: MoreStub): MoreStub[] {
    if (stub.childIds.length === 0) {
      const isOpen = stub.parentId.startsWith('t1_') && !this.followed.has(stub.parentId);
      return isOpen ? [stub] : [];
    }
    const childIds = stub.childIds.filter((id) => !this.ids.has(id) && !this.missing.has(id));
    return childIds.length === 0 ? [] : [{ parentId: stub.parentId, childIds }];
  }
}
