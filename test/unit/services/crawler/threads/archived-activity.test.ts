import { describe, expect, test } from 'vitest';
import { ArchivedActivity } from '../../../../../services/crawler/threads/archived-activity.ts';
import type { ClickHouseClient } from '../../../../../shared/clickhouse/clickhouse-client.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 0, 1);
const signal = new AbortController().signal;

interface Archive {
  ageMs: number;
  /** Posts of the minute that begins then, each with a comment in the same minute; default: one. */
  postsAt?: (minute: number) => number;
  /** The posts that the listener takes. */
  room?: number;
}

/** What is told of an archive, and the minutes that each query asked for. */
class Loading {
  posts = 0;
  comments = 0;
  readonly asked = { posts: [] as number[], comments: [] as number[] };
  readonly archived: ArchivedActivity;
  private readonly archive: Archive;

  constructor(archive: Archive) {
    this.archive = archive;
    const listener = {
      add: () => {
        this.posts += 1;
      },
      noteActivity: (activity: { comments: number }) => {
        this.comments += activity.comments;
      },
      isFull: () => this.posts >= (archive.room ?? Infinity),
    };
    const clickhouse = { query: this.answer.bind(this) } as unknown as ClickHouseClient;
    const deps = { clickhouse, clock: () => START, logger: silentLogger(), ageMs: archive.ageMs };
    this.archived = new ArchivedActivity(listener, deps);
  }

  async step(): Promise<void> {
    await this.archived.next(START)!.run(signal);
  }

  async run(): Promise<void> {
    while (!this.archived.isLoaded) await this.step();
  }

  private async answer({ query, query_params: params }: { query: string; query_params: Record<string, number> }) {
    const { from = 0, to = 0, limit } = params;
    const isOfPosts = query.includes('AS createdAt');
    this.asked[isOfPosts ? 'posts' : 'comments'].push(Math.round((to - from) / MINUTE));
    const rows: object[] = [];
    for (let at = Math.ceil(from / MINUTE) * MINUTE; at < to; at += MINUTE) {
      const count = this.archive.postsAt?.(at) ?? 1;
      for (let n = 0; n < count; n++) {
        rows.push({ postId: `p${at}-${n}`, createdAt: at, seenAt: at, comments: 1, oldestAt: at });
      }
    }
    return { json: async () => rows.slice(0, limit) };
  }
}

describe('what is archived', () => {
  test('is told whole where a time turns out to be busy', async () => {
    const busyUntil = START - 10 * HOUR;
    const loading = new Loading({ ageMs: 12 * HOUR, postsAt: (minute) => (minute < busyUntil ? 1_500 : 1) });
    await loading.run();
    // 320, 160 and 80 minutes of it are too many posts for one answer.
    expect(loading.asked.posts).toEqual([20, 40, 80, 160, 320, 320, 160, 80, 40, 40, 40]);
    const minutes = 20 + 40 + 80 + 160 + 320 + 3 * 40;
    expect(loading.posts).toBe(600 + (minutes - 600) * 1_500);
    expect(loading.comments).toBe(loading.posts);
  });

  test('is read again from ten minutes before once a minute; a failed read does not count', async () => {
    const loading = new Loading({ ageMs: HOUR });
    await loading.run();
    loading.asked.posts.length = 0;
    for (let read = 0; read < 14; read++) {
      const now = START + read * 10_000;
      if (read === 6) loading.archived.next(now)!.failed();
      await loading.archived.next(now)!.run(signal);
    }
    // To an hour after now, in whole minutes, from before the newest post known.
    const isLong = loading.asked.posts.map((minutes) => minutes >= 70);
    expect(isLong.flatMap((long, read) => (long ? [read] : []))).toEqual([0, 6, 12]);
  });
});
