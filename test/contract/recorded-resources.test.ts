import { existsSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { commentItem, forumUser, subreddit } from '../../schemas/api/reading.ts';
import { post } from '../../schemas/messages/forum-post.ts';
import type { Post } from '../../schemas/messages/forum-post.ts';
import {
  commentSchema,
  postSchema,
  rulesSchema,
  subredditSchema,
  toCommentItem,
  toForumUser,
  toPost,
  toSubreddit,
  userSchema,
} from '../../shared/forum-client/forum-resources.ts';
import { parseAnswer, parsePage } from '../../shared/forum-client/parse-things.ts';
import { damaged } from '../support/samples/damaged-things.ts';
import { nodesOf, readRecordedResponses, RECORDED } from '../support/samples/recorded-responses.ts';
import type { RecordedResponse } from '../support/samples/recorded-responses.ts';
import { listingOf, nodeOf } from '../support/samples/upstream-samples.ts';

const CONTEXT = { siteUrl: 'https://forum.example', now: Date.UTC(2026, 0, 1) };

/** Of the recorded things, because each has hundreds of fields. */
const EVERY = 400;

type Raw = Record<string, unknown>;

describe.skipIf(!existsSync(RECORDED))(`recorded resources (${RECORDED}, skipped where it does not exist)`, () => {
  let responses: RecordedResponse[];
  const nodes: { kind: string; data: object; where: string }[] = [];

  beforeAll(async () => {
    responses = await readRecordedResponses();
    for (const { body, uri } of responses) nodes.push(...nodesOf(body, new URL(uri).pathname));
  }, 120_000);

  const ofKind = (kind: string) => nodes.filter((node) => node.kind === kind);

  test("every post maps to a valid post with the forum's values", () => {
    let checked = 0;
    for (const { data, where } of ofKind('t3')) {
      const raw = data as Raw;
      if (raw['promoted'] && raw['subreddit'] === undefined) continue;
      const mapped = toPost(parseAnswer(postSchema, data, where), CONTEXT);
      post.parse(mapped);
      checkPost(mapped, raw);
      checked++;
    }
    expect(checked).toBeGreaterThan(6_000);
  });

  test('every comment, community, user and rule maps to a valid resource', () => {
    const counts = { t1: 0, t5: 0, t2: 0, rules: 0 };
    for (const { data, where } of ofKind('t1')) {
      const mapped = commentItem.parse(toCommentItem(parseAnswer(commentSchema, data, where), CONTEXT));
      expect([mapped.id, mapped.body, mapped.score]).toEqual(
        ['id', 'body', 'score'].map((name) => (data as Raw)[name]),
      );
      counts.t1++;
    }
    for (const { data, where } of ofKind('t5')) {
      const mapped = subreddit.parse(toSubreddit(parseAnswer(subredditSchema, data, where), CONTEXT));
      expect([mapped.name, mapped.over_18]).toEqual([(data as Raw)['display_name'], (data as Raw)['over18'] ?? false]);
      counts.t5++;
    }
    for (const { data, where } of ofKind('t2')) {
      const mapped = forumUser.parse(toForumUser(parseAnswer(userSchema, data, where)));
      expect([mapped.name, mapped.link_karma]).toEqual([(data as Raw)['name'], (data as Raw)['link_karma'] ?? 0]);
      counts.t2++;
    }
    for (const { body, uri, status } of responses) {
      if (!/\/about\/rules/.test(uri) || status !== 200) continue;
      const about = subredditSchema.parse({ display_name: 'metals' });
      counts.rules += subreddit.parse(toSubreddit(about, CONTEXT, rulesSchema.parse(body))).rules.length;
    }
    expect(counts.t1).toBeGreaterThan(14_000);
    expect(counts.t5).toBeGreaterThan(1_500);
    expect(counts.t2).toBeGreaterThan(50);
    expect(counts.rules).toBeGreaterThan(5);
  });

  test('one damaged field of a thing takes neither the page nor another thing with it', () => {
    const schemas = { t1: commentSchema, t2: userSchema, t3: postSchema, t5: subredditSchema };
    let checked = 0;
    for (const { kind, data } of nodes.filter(({ kind: each }, index) => each in schemas && index % EVERY === 0)) {
      const { replies: _replies, ...plain } = data as Raw;
      for (const { path, copy } of damaged(plain)) {
        const page = parsePage(listingOf(nodeOf(kind, copy), nodeOf(kind, plain)), schemas);
        expect(page.children.length + page.faults.length, path).toBe(2);
        expect(page.children.length, path).toBeGreaterThan(0);
        checked++;
      }
    }
    expect(checked).toBeGreaterThan(10_000);
  });
});

/** Properties of a post that can be checked without repeating the mapping: counts, kinds and copies. */
function checkPost(mapped: Post, raw: Raw): void {
  const copied = ['id', 'title', 'selftext', 'score', 'domain', 'is_self', 'over_18', 'locked', 'stickied'] as const;
  for (const name of copied) expect(mapped[name]).toEqual(raw[name]);
  expect(mapped.flair).toBe(raw['link_flair_text'] ?? '');
  expect(mapped.crosspost_of !== null).toBe(typeof raw['crosspost_parent'] === 'string');
  const gallery = raw['gallery_data'] as { items?: { media_id: string }[] } | null | undefined;
  const files = raw['media_metadata'] as Record<string, { status: string }> | null | undefined;
  if (gallery?.items) {
    const valid = gallery.items.filter(({ media_id: id }) => files?.[id]?.status === 'valid');
    expect(mapped.media.map(({ type }) => type)).toEqual(valid.map(() => 'gallery'));
  } else expect(mapped.media.length).toBeLessThanOrEqual(1);
  if (raw['is_video'] === true) expect(mapped.media.map(({ type }) => type)).toEqual(['video']);
}
