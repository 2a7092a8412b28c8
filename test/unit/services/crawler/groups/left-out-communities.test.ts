import { expect, test } from 'vitest';
import { LeftOutCommunities } from '../../../../../services/crawler/groups/left-out-communities.ts';

test('remembers for a time up to where a community was read before it was left out', () => {
  const communities = new LeftOutCommunities(1_000);
  communities.learn([{ names: ['a', 'b'], shownTo: 100 }], [{ names: ['b'], shownTo: 100 }], 200);
  expect([...communities]).toEqual([['a', 100]]);
  communities.learn([{ names: ['b'], shownTo: 500 }], [], 600);
  expect(communities.saved()).toEqual([
    { names: ['b'], at: 500 },
    { names: ['a'], at: 100 },
  ]);
  communities.learn([], [{ names: ['b'], shownTo: undefined }], 700);
  expect([...communities]).toEqual([['a', 100]]);
  communities.learn([], [], 1_101);
  expect([...communities]).toEqual([]);
});
