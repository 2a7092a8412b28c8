import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { forumItem } from '../../schemas/messages/forum-item.ts';
import { parseListing, parseThing, thingToForumItem } from '../../shared/forum-client/parse-things.ts';
import { readRecordedResponses, RECORDED } from '../support/samples/recorded-responses.ts';

const ORIGIN = { source: 'replay', replay: true, firstSeenAt: 0, siteUrl: 'https://forum.example' };

interface Counts {
  listings: number;
  posts: number;
  comments: number;
  faults: string[];
}

function inspect(value: unknown, where: string, counts: Counts): void {
  if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) inspect(entry, `${where}.${index}`, counts);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const { kind, data } = value as { kind?: unknown; data?: unknown };
  if (kind === 'Listing') {
    counts.listings += 1;
    parseListing(value);
  } else if ((kind === 't1' || kind === 't3') && typeof data === 'object' && data !== null) {
    inspectThing(value, where, counts);
  }
  for (const [name, entry] of Object.entries(value)) inspect(entry, `${where}.${name}`, counts);
}

function inspectThing(value: object, where: string, counts: Counts): void {
  const parsed = parseThing(value, where);
  if (parsed.outcome === 'thing') {
    forumItem.parse(thingToForumItem(parsed.thing, ORIGIN));
    if (parsed.thing.kind === 't3') counts.posts += 1;
    else counts.comments += 1;
  } else if (parsed.outcome === 'fault') {
    counts.faults.push(`${parsed.fault.path}: ${parsed.fault.message}`);
  }
}

describe.skipIf(!existsSync(RECORDED))(`recorded responses (${RECORDED}, skipped where it does not exist)`, () => {
  test('every listing, post and comment has a known shape and maps to a valid item', async () => {
    const counts: Counts = { listings: 0, posts: 0, comments: 0, faults: [] };
    for (const { body, uri } of await readRecordedResponses()) inspect(body, new URL(uri).pathname, counts);
    expect(counts.faults).toEqual([]);
    expect(counts.posts).toBeGreaterThan(1000);
    expect(counts.comments).toBeGreaterThan(1000);
    expect(counts.listings).toBeGreaterThan(1000);
    console.log(`parsed ${counts.listings} listings, ${counts.posts} posts, ${counts.comments} comments`);
  }, 120_000);
});
