import { expect, test } from 'vitest';
import { GroupPolling } from '../../../../../services/crawler/groups/group-polling.ts';
import { knownParts } from '../../../../../services/crawler/groups/known-parts.ts';
import type { CommunityRate } from '../../../../../shared/stores/crawl/community-rates.ts';

const SLOW_MS = 2_400_000;
const PROMPT_MS = 50_000;

const timesOf = (parts: readonly { completeSince: number }[]) => parts.map(({ completeSince }) => completeSince);

test('a community is known up to what names it last, else up to the time of its kind of group', () => {
  const saved = { groups: [{ names: ['saved', 'both'], at: 500 }], rest: 400, slow: 100, prompt: new Set(['prompt']) };
  const knownOf = knownParts({ saved, leftOut: [['both', 300]], groups: [] });
  expect(timesOf(knownOf('saved', PROMPT_MS))).toEqual([500]);
  expect(timesOf(knownOf('both', PROMPT_MS))).toEqual([300]);
  expect(timesOf(knownOf('prompt', PROMPT_MS))).toEqual([400]);
  expect(timesOf(knownOf('prompt', SLOW_MS))).toEqual([100]);
  expect(timesOf(knownOf('slow before', PROMPT_MS))).toEqual([100]);
  const unknown = knownParts({ saved: { ...saved, prompt: undefined }, leftOut: [], groups: [] });
  expect(timesOf(unknown('slow before', PROMPT_MS))).toEqual([400]);
  expect(knownParts({ saved: { groups: [] }, leftOut: [], groups: [] })('any', PROMPT_MS)).toEqual([]);
});

test('a community that a restart takes from a slow group to another one is read from where the slow group was', () => {
  const rate = (subreddit: string, comments: number): CommunityRate => {
    return { subreddit, comments, posts: 0, checked: 1000, missed: 1000 };
  };
  const busy = Array.from({ length: 20 }, (_, n) => rate(`busy${n}`, 0.5));
  const quiet = Array.from({ length: 2_000 }, (_, n) => rate(`quiet${n}`, 0.001));
  const before = new GroupPolling();
  before.form([...busy, ...quiet], 0.3, 0);
  expect(before.promptNames).toContain('busy0');
  const slowOnes = quiet.filter(({ subreddit }) => !before.promptNames.includes(subreddit));
  expect(slowOnes.length).toBeGreaterThan(100);
  // All groups are read at the start, then only those that are not slow.
  for (let now = 0; now < 300_000; now += 100) {
    const request = before.next(now, 10);
    if ('waitMs' in request) continue;
    const name = request.group.names[0]!;
    const items = Array.from({ length: 100 }, (_, index) => ({
      name: `t1_${name}${Math.floor(now / 1_000) - index}`,
      createdAt: now - index * 1_000,
      subreddit: name,
      postId: 'p',
    }));
    before.learn(request, { items, after: undefined }, now);
  }
  const { slow, rest } = before.position();
  expect(rest! - slow!).toBeGreaterThan(100_000);

  const after = new GroupPolling({ ...before.position(), prompt: new Set(before.promptNames) });
  after.form([...busy, ...slowOnes.slice(0, 50).map(({ subreddit }) => rate(subreddit, 0.5))], 10, 300_000);
  expect(after.promptNames).toContain(slowOnes[0]!.subreddit);
  const taken = after.position();
  const read = [...taken.groups.map(({ at }) => at), taken.rest!];
  expect(Math.min(...read)).toBe(slow);
});
