import type { Post } from './catalog.ts';
import { scoreAt, communityFields, removalOf, permalinkOf, textAt } from './render.ts';
import type { Thing } from './render.ts';
import type { World } from '../world.ts';

interface TreeOptions {
  sort: string;
  /** The maximum number of comments; `more` stubs stand for the others. */
  limit: number;
  /** The maximum number of levels; "continue this thread" stubs stand for deeper comments. */
  depth: number;
}

interface Node {
  k: number;
  depth: number;
  rank: number;
}

export class CommentTree {
  private readonly world: World;
  private readonly now: number;
  private readonly sort: string;
  private readonly children = new Map<number, number[]>();
  private readonly ranks = new Map<number, number>();

  constructor(world: World, post: Post, sort: string, now: number) {
    this.world = world;
    this.now = now;
    this.sort = sort;
    for (const k of world.threads.commentsOf(post.number)) {
      if (world.timeline.visibleAt(k) > now) continue;
      const parent = world.threads.parentOf(k);
      const siblings = this.children.get(parent);
      if (siblings) siblings.push(k);
      else this.children.set(parent, [k]);
    }
  }

  childrenOf(k: number): number[] {
    const children = this.children.get(k) ?? [];
    return [...children].sort((a, b) => this.rank(b) - this.rank(a) || a - b);
  }

  private rank(k: number): number {
    let rank = this.ranks.get(k);
    if (rank === undefined) this.ranks.set(k, (rank = this.rankOf(k)));
    return rank;
  }

  private rankOf(k: number): number {
    if (this.sort === 'new') return k;
    if (this.sort === 'old') return -k;
    const age = this.now - this.world.timeline.emittedAt(k)!;
    const { lifecycle, author, post } = this.world.catalog.comment(k);
    const score = scoreAt(lifecycle, age);
    if (this.sort === 'controversial') return -Math.abs(score);
    if (this.sort === 'qa') return score + (author === post.author ? 1e6 : 0);
    return score;
  }

  /** Chooses the comments up to the limit: all roots first, then repeatedly the best comment whose parent is chosen. */
  private select(roots: readonly number[], options: TreeOptions): Set<number> {
    const shown = new Set<number>();
    const candidates: Node[] = roots.map((k) => ({ k, depth: 0, rank: this.rank(k) + 1e9 }));
    while (shown.size < options.limit && candidates.length > 0) {
      let best = 0;
      for (let i = 1; i < candidates.length; i++) if (candidates[i]!.rank > candidates[best]!.rank) best = i;
      const node = candidates[best]!;
      candidates[best] = candidates.at(-1)!;
      candidates.pop();
      shown.add(node.k);
      if (node.depth + 1 >= options.depth) continue;
      for (const k of this.children.get(node.k) ?? []) {
        candidates.push({ k, depth: node.depth + 1, rank: this.rank(k) / (node.depth + 2) });
      }
    }
    return shown;
  }

  nested(parent: number, options: TreeOptions): Thing[] {
    const roots = this.childrenOf(parent);
    return this.siblings(roots, parent, 0, this.select(roots, options), options);
  }

  /** The view of one comment: `path` leads from its topmost shown ancestor to the comment, whose replies follow. */
  focused(path: readonly number[], options: TreeOptions): Thing[] {
    const focus = path.at(-1)!;
    const replies = this.childrenOf(focus);
    const depth = path.length;
    const shown = this.select(replies, { ...options, depth: Math.max(1, options.depth - depth) });
    let children = this.siblings(replies, focus, depth, shown, options);
    for (let i = path.length - 1; i >= 0; i--) children = [this.withReplies(path[i]!, i, children)];
    return children;
  }

  private withReplies(k: number, depth: number, replies: Thing[]): Thing {
    const thing = renderComment(this.world, k, this.now, depth);
    if (replies.length > 0) thing.data.replies = listingOf(replies);
    return thing;
  }

  private siblings(
    all: readonly number[],
    parent: number,
    depth: number,
    shown: Set<number>,
    options: TreeOptions,
  ): Thing[] {
    if (all.length === 0) return [];
    if (depth >= options.depth) return [this.continueStub(parent, depth)];
    const things: Thing[] = [];
    for (const k of all) {
      if (!shown.has(k)) continue;
      const replies = this.siblings(this.childrenOf(k), k, depth + 1, shown, options);
      things.push(this.withReplies(k, depth, replies));
    }
    const hidden = all.filter((k) => !shown.has(k));
    if (hidden.length > 0) things.push(this.moreStub(hidden, parent, depth));
    return things;
  }

  /** The requested comments, each followed by its replies, as a flat list. Stubs stand for comments over the limit. */
  flat(roots: readonly number[], depthOf: (k: number) => number, options: TreeOptions): Thing[] {
    const shown = this.select(roots, options);
    const things: Thing[] = [];
    const visit = (k: number, depth: number): void => {
      things.push(renderComment(this.world, k, this.now, depth));
      const children = this.childrenOf(k);
      for (const child of children) if (shown.has(child)) visit(child, depth + 1);
      const hidden = children.filter((child) => !shown.has(child));
      if (hidden.length > 0) things.push(this.moreStub(hidden, k, depth + 1));
    };
    for (const k of roots) if (shown.has(k)) visit(k, depthOf(k));
    return things;
  }

  private subtreeSize(k: number): number {
    return (this.children.get(k) ?? []).reduce((sum, child) => sum + this.subtreeSize(child), 1);
  }

  private moreStub(hidden: readonly number[], parent: number, depth: number): Thing {
    const { timeline } = this.world;
    const ids = hidden.map((k) => timeline.idOf(k));
    const count = hidden.reduce((sum, k) => sum + this.subtreeSize(k), 0);
    const [id] = ids;
    return {
      kind: 'more',
      data: { count, name: `t1_${id}`, id, parent_id: timeline.nameOf(parent), depth, children: ids },
    };
  }

  private continueStub(parent: number, depth: number): Thing {
    const parent_id = this.world.timeline.nameOf(parent);
    return { kind: 'more', data: { count: 0, name: 't1__', id: '_', parent_id, depth, children: [] } };
  }
}

export function listingOf(children: readonly Thing[], after: string | null = null, dist: number | null = null): Thing {
  return { kind: 'Listing', data: { after, dist, children, before: null } };
}

/** With `depth` as in a thread, without it as in a listing (post's title …). */
export function renderComment(world: World, k: number, now: number, depth?: number): Thing {
  const { timeline, catalog, threads } = world;
  const comment = catalog.comment(k);
  const { post, author, body, lifecycle } = comment;
  const age = Math.max(0, now - timeline.emittedAt(k)!);
  const removal = removalOf(comment, age);
  const data: Record<string, unknown> = {
    ...communityFields(post),
    author: removal === 'none' ? author : '[deleted]',
    id: timeline.idOf(k),
    name: timeline.nameOf(k),
    link_id: timeline.nameOf(post.k),
    parent_id: timeline.nameOf(threads.parentOf(k)),
    body: textAt(body, lifecycle, removal, age),
    created_utc: Math.floor(timeline.createdAt(k) / 1000),
    score: scoreAt(lifecycle, age),
    controversiality: 0,
    is_submitter: removal === 'none' && author === post.author,
    permalink: permalinkOf(world, post) + timeline.idOf(k) + '/',
    replies: '',
  };
  if (depth === undefined) {
    Object.assign(data, { link_title: post.title, link_author: post.author, over_18: post.over18 });
  } else data.depth = depth;
  return { kind: 't1', data };
}
