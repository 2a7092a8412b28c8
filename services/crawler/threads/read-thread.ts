import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import type { Lane } from '../../../shared/forum-client/lanes.ts';
import { parseMoreThings, parseThreadThings } from '../../../shared/forum-client/parse-comment-tree.ts';
import type { LeftOut, ThreadThings } from '../../../shared/forum-client/parse-comment-tree.ts';
import type { CommentData, PostData } from '../../../shared/forum-client/parse-things.ts';
import type { MalformedItem } from '../../../shared/forum-client/malformed-item.ts';
import { identifyItem } from '../../../shared/forum-client/malformed-item.ts';
import type { Upstream } from '../../../shared/forum-client/upstream-client.ts';
import { UpstreamError } from '../../../shared/forum-client/upstream-error.ts';
import type { SourceLabel } from '../crawl-source.ts';
import { readThings } from '../crawl-source.ts';

const COMMENTS_PER_CALL = '500';
const IDS_PER_CALL = 100;
/** Why the forum shows nothing of a community, in its own words. */
const REASONS_OF_COMMUNITIES = new Set(['private', 'quarantined', 'gold_only', 'employees_only', 'banned']);

interface ThreadReaderDeps {
  upstream: Pick<Upstream, 'get' | 'post'>;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  lane: Lane;
  label: SourceLabel;
}

interface ReadOptions {
  /** Comments that are archived, by fullname: they are not fetched. */
  isArchived: (name: string) => boolean;
  maxCalls: number;
}

export interface ThreadReading {
  post: PostData;
  /** Comments that are not archived, each once, with the title and the NSFW flag of the post. */
  found: CommentData[];
  malformed: MalformedItem[];
  /** Comments that the thread names or counts and that were left for another reading. */
  unread: number;
  /** A call after the first one failed, so the rest was not asked for. */
  isBrokenOff: boolean;
  /** When the first answer was received. */
  readAt: number;
}

/**
 * Reads a thread: the newest 500 comments, then what it left out, until everything is read or `maxCalls` are made:
 * named comments with replies that are not named (/api/morechildren, which shows about 200 a call), comments that are
 * only named (/api/info), and what continues below others. When a call after the first one fails, the rest is left
 * unread.
 *
 * @throws UpstreamError when the first call fails
 */
export async function readThread(
  deps: ThreadReaderDeps,
  postId: string,
  options: ReadOptions,
  signal: AbortSignal,
): Promise<ThreadReading> {
  const reader = new ThreadReader(deps, postId, options, signal);
  return reader.read();
}

class ThreadReader {
  private readonly deps: ThreadReaderDeps;
  private readonly postId: string;
  private readonly options: ReadOptions;
  private readonly signal: AbortSignal;
  private readonly found = new Map<string, CommentData>();
  private readonly malformed: MalformedItem[] = [];
  private readonly named = new Set<string>();
  /** Bare ids of named comments that may have replies which are not named. */
  private readonly branches = new Set<string>();
  /** Bare ids of comments below which the thread continues. */
  private readonly continued = new Set<string>();
  /** Names that were asked for already. */
  private readonly followed = { branches: new Set<string>(), pages: new Set<string>() };
  private calls = 0;

  constructor(deps: ThreadReaderDeps, postId: string, options: ReadOptions, signal: AbortSignal) {
    this.deps = deps;
    this.postId = postId;
    this.options = options;
    this.signal = signal;
  }

  async read(): Promise<ThreadReading> {
    const { post } = await this.readPage('');
    const readAt = this.deps.clock();
    let isBrokenOff = false;
    try {
      while (this.calls < this.options.maxCalls && (await this.readMore(post)));
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      isBrokenOff = true;
      this.deps.logger.debug({ err: error, post: this.postId }, 'a part of a thread was left unread');
    }
    const unread = this.unreadNames().length + this.branches.size + this.continued.size;
    return { post, found: [...this.found.values()], malformed: this.malformed, unread, isBrokenOff, readAt };
  }

  /** Makes one more call; false when there is nothing left to read. */
  private async readMore(post: PostData): Promise<boolean> {
    if (this.branches.size > 0) {
      await this.readBranches([...this.branches].slice(0, IDS_PER_CALL), post);
      return true;
    }
    const names = this.unreadNames().slice(0, IDS_PER_CALL);
    if (names.length > 0) {
      await this.readByName(names, post);
      return true;
    }
    const [commentId] = this.continued;
    if (commentId === undefined) return false;
    await this.readPage(`/_/${commentId}`);
    this.continued.delete(commentId);
    this.followed.pages.add(commentId);
    return true;
  }

  private async readPage(below: string): Promise<ThreadThings> {
    const { upstream, lane } = this.deps;
    this.calls += 1;
    const path = `/comments/${encodeURIComponent(this.postId)}${below}`;
    const params = { sort: 'new', limit: COMMENTS_PER_CALL };
    const endpoint = below === '' ? '/comments/ID' : '/comments/ID/_/CID';
    const body = await upstream.get(path, params, { endpoint, lane, signal: this.signal });
    const page = parseThreadThings(body);
    this.take(page, endpoint, below);
    return page;
  }

  /** The replies of a named comment come with it, as far as a response holds them; stubs stand for the others. */
  private async readBranches(ids: readonly string[], post: PostData): Promise<void> {
    const endpoint = '/api/morechildren';
    this.calls += 1;
    const form = { api_type: 'json', link_id: `t3_${this.postId}`, children: ids.join(','), sort: 'new' };
    const call = { endpoint, lane: this.deps.lane, signal: this.signal };
    const body = await this.deps.upstream.post(endpoint, { ...form, limit_children: 'false' }, call);
    for (const id of ids) {
      this.branches.delete(id);
      this.followed.branches.add(id);
    }
    this.take(parseMoreThings(body, post), endpoint, undefined);
  }

  /** `below`: the part of the path after the post, if the response is a page of the thread. */
  private take(page: ThreadThings, endpoint: string, below: string | undefined): void {
    const { metrics, label } = this.deps;
    for (const { raw } of page.faults) {
      metrics.upstreamRequests.inc({ endpoint, outcome: 'shape' });
      const thing = identifyItem(raw);
      if (thing !== undefined) this.malformed.push(thing);
    }
    for (const [, count] of page.unknownKinds) metrics.crawlerUnknownKinds.inc({ source: label }, count);
    for (const comment of page.comments) this.add(comment);
    for (const stub of page.leftOut) this.note(stub, below);
  }

  private note({ parentId, childIds, count }: LeftOut, below: string | undefined): void {
    for (const id of childIds) this.named.add(`t1_${id}`);
    // Archived comments too: what replies to them may not be archived.
    const branches = count > childIds.length ? childIds : [];
    for (const id of branches) if (!this.followed.branches.has(id)) this.branches.add(id);
    // A page below a comment that is cut at that comment again would be read forever.
    if (childIds.length > 0 || below === `/_/${parentId.slice(3)}` || !parentId.startsWith('t1_')) return;
    const id = parentId.slice(3);
    if (!this.followed.pages.has(id)) this.continued.add(id);
  }

  private async readByName(names: readonly string[], post: PostData): Promise<void> {
    this.calls += 1;
    for (const name of names) this.named.delete(name);
    const call = { endpoint: 'info', lane: this.deps.lane, signal: this.signal };
    let body: unknown;
    try {
      body = await this.deps.upstream.get('/api/info', { id: names.join(',') }, call);
    } catch (error) {
      for (const name of names) this.named.add(name);
      throw error;
    }
    const { things, malformed } = readThings(body, { ...this.deps, endpoint: 'info' });
    this.malformed.push(...malformed);
    for (const thing of things) {
      if (thing.kind !== 't1') continue;
      const { link_title: title, over_18: nsfw } = thing.data;
      this.add({ ...thing.data, link_title: title ?? post.title, over_18: nsfw ?? post.over_18 });
    }
  }

  private add(comment: CommentData): void {
    const name = `t1_${comment.id}`;
    this.named.delete(name);
    if (!this.options.isArchived(name)) this.found.set(name, comment);
  }

  private unreadNames(): string[] {
    return [...this.named].filter((name) => !this.found.has(name) && !this.options.isArchived(name));
  }
}

/**
 * The thread will not be readable later either: deleted, or its community is private or banned. A 403 without such a
 * reason may refuse this client, and every thread.
 */
export function isInaccessible(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  const { failure, status, reason = '' } = error;
  return failure === 'not_found' || (failure === 'refused' && status === 403 && REASONS_OF_COMMUNITIES.has(reason));
}

/** How often a thread is asked for that the forum refuses without a reason. */
const MOST_REFUSALS = 12;
const MOST_REMEMBERED = 1_000;

/**
 * A 403 without a reason may refuse one thread, or this client and so every thread. It counts as one of the thread once
 * another one was read since, or at the twelfth time, more than an hour later.
 */
export class RefusalConfirmation {
  private read = 0;
  /** By thread: how often it was refused, and how many were read before the first time. */
  private readonly refused = new Map<string, { times: number; read: number }>();

  noteRead(): void {
    this.read += 1;
  }

  /** Whether the failure of a reading means that the forum will not show this thread later either. */
  isConfirmed(postId: string, error: unknown): boolean {
    if (!(error instanceof UpstreamError) || error.failure !== 'refused') return false;
    if (error.status !== 403 || error.reason === 'blocked') return false;
    const known = this.refused.get(postId) ?? { times: 0, read: this.read };
    known.times += 1;
    this.refused.delete(postId);
    if (this.read > known.read || known.times >= MOST_REFUSALS) return true;
    this.refused.set(postId, known);
    for (const oldest of this.refused.keys()) {
      if (this.refused.size <= MOST_REMEMBERED) break;
      this.refused.delete(oldest);
    }
    return false;
  }
}
