import { describe, expect, test } from 'vitest';
import type { KnownPart } from '../../../../../services/crawler/groups/group-reading.ts';
import { GroupReading } from '../../../../../services/crawler/groups/group-reading.ts';
import type { ListingPage } from '../../../../../services/crawler/listings/listing-timeline.ts';

/** `count` items from item `newest` down, item n created n seconds after the epoch. */
function page(newest: number, count = 100, isEnd = false): ListingPage {
  const items = Array.from({ length: count }, (_, index) => {
    return { name: `t1_${newest - index}`, createdAt: 1000 * (newest - index), subreddit: 'tea', postId: 'p' };
  });
  return { items, after: isEnd ? undefined : items.at(-1)?.name };
}

function part(completeSince: number, ...anchors: number[]): KnownPart {
  return { completeSince, anchors: new Set(anchors.map((n) => `t1_${n}`)) };
}

function start(known: KnownPart[], first: ListingPage, mayBeEmpty = false) {
  return new GroupReading({ known, newest: 't1_1', mayBeEmpty }, first, 9_000_000);
}

const EMPTY: ListingPage = { items: [], after: undefined };

/** A hundred items, one a minute. */
function quiet(): ListingPage {
  const { items, after } = page(5000);
  return { items: items.map((item, index) => ({ ...item, createdAt: 5_000_000 - 60_000 * index })), after };
}

describe('GroupReading', () => {
  test.each([
    ['nothing was known', [], page(5000)],
    ['it shows an anchor', [part(4_800_000, 4950)], page(5000)],
    ['it reaches ten seconds further back than what is complete', [part(4_915_000)], page(5000)],
    ['the listing ends on it, below something complete', [part(4_975_000)], page(5000, 40, true)],
    ['the listing ends on its only item, which is complete', [part(5_010_000)], page(5000, 1, true)],
    ['the listing ends on it and was empty before', [{ ...part(1_000), wasEmpty: true }], page(5000, 40, true)],
    ['it reaches every part', [part(4_800_000, 4950), part(4_800_000, 7, 4920), part(4_915_000)], page(5000)],
  ])('is joined by its first page if %s', (_, known, first) => {
    expect(start(known, first).learn(first)).toEqual({ outcome: 'joined' });
  });

  test.each([
    ['is empty', [part(4_800_000, 4950)], EMPTY, { beforeThing: undefined, beforeAt: 9_000_000 }],
    ['is empty as before', [{ ...part(4_800_000), wasEmpty: true }], EMPTY, { beforeAt: 9_000_000 }],
    ['is empty after a restart', [part(4_800_000)], EMPTY, { beforeAt: 9_000_000 }],
    ['ends above what is known', [part(4_800_000, 4950)], page(5000, 40, true), { beforeThing: 't1_4961' }],
  ])('is a gap if its first page %s', (_, known, first, bounds) => {
    const missed = expect.objectContaining({ afterThing: 't1_1', afterAt: 4_790_000, ...bounds }) as unknown;
    expect(start(known, first).learn(first)).toEqual({ outcome: 'gap', missed });
  });

  test.each([
    ['the third newest date on its newest page', [], page(5000), 4_998_000],
    ['what was shown before, if that is later', [part(8_950_000, 4950)], page(5000), 8_950_000],
    ['at most when it was asked for', [part(9_500_000, 4950)], page(5000), 9_000_000],
    ['two minutes before it was asked for, if the page reaches back far', [], quiet(), 8_880_000],
    ['the same, if it is the whole listing', [], page(5000, 40, true), 8_880_000],
    ['when it was asked for, if it is empty', [], EMPTY, 9_000_000],
  ])('knows everything up to %s', (_, known, first, shownTo) => {
    expect(start(known, first).shownTo).toBe(shownTo);
  });

  test('takes an empty listing for complete where nobody has seen a comment', () => {
    expect(start([part(4_800_000)], EMPTY, true).learn(EMPTY)).toEqual({ outcome: 'joined' });
  });

  test('reads deeper until it reaches every part', () => {
    const first = page(5000);
    const reading = start([part(4_890_000, 4880), part(4_850_000)], first);
    expect(reading.learn(first)).toEqual({ outcome: 'deeper', after: 't1_4904' });
    expect(reading.learn(page(4903))).toEqual({ outcome: 'joined' });
  });

  test('is a gap if the listing ends before', () => {
    const first = page(5000);
    const reading = start([part(4_700_000)], first);
    reading.learn(first);
    const bounds = { afterThing: 't1_1', afterAt: 4_690_000, beforeThing: 't1_4804', beforeAt: 4_903_000 };
    expect(reading.learn(page(4903, 100, true))).toEqual({ outcome: 'gap', missed: bounds });
  });

  test('is a gap if a deeper page does not show some of the page above', () => {
    const first = page(5000);
    const reading = start([part(4_700_000)], first);
    reading.learn(first);
    expect(reading.learn(page(6000))).toMatchObject({ outcome: 'gap', missed: { beforeThing: 't1_4901' } });
  });

  test('reads no deeper if the listing cannot reach back', () => {
    const first = page(50_000);
    expect(start([part(100_000)], first).learn(first)).toMatchObject({
      outcome: 'gap',
      missed: { beforeThing: 't1_49901' },
    });
  });
});
