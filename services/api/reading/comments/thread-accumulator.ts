import type { Comment } from '../../../../schemas/messages/forum-post.ts';
import type { MoreStub, ParsedComments } from '../../../../shared/upstream/parsing/parse-comment-tree.ts';
import type { LoadedComments } from './comment-tree.ts';

/**
 * Collects the comments of a thread while more of it is fetched. It requests nothing twice, whatever the forum answers,
 * so the ids that the forum names bound the number of calls.
 */
export class ThreadAccumulator {
  private readonly comments: Comment[];
  private readonly ids: Set<string>;
  private stubs: MoreStub[];
  /** Parents of comments that were requested and not returned, by bare id. */
  private readonly missing: Map<string, string>;
  /** Fullnames of comments whose replies were requested. */
  private readonly followed = new Set<string>();

  constructor(loaded: LoadedComments) {
    this.comments = [...loaded.comments];
    this.ids = new Set(this.comments.map(({ id }) => id));
    this.stubs = [...loaded.stubs];
    this.missing = new Map(loaded.missing.map(({ id, parentId }) => [id, parentId]));
  }

  get size(): number {
    return this.ids.size;
  }

  get hasOpenStubs(): boolean {
    return this.stubs.length > 0;
  }

  /** Copies the current state as plain data. */
  snapshot(): LoadedComments {
    const missing = [...this.missing].map(([id, parentId]) => ({ id, parentId }));
    return { comments: [...this.comments], stubs: [...this.stubs], missing };
  }

  /** Adds the answer to `asked` and closes its stub. Ids that the stub named and the answer lacks become missing. */
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
