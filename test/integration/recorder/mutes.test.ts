import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Candidate } from '../../../schemas/messages/candidate.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { candidateOf, insertMonitors, mute } from '../../support/fixtures/recorder-fixtures.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const record = (candidates: Candidate[]) => recordBatch({ pool: database.pool, toleranceMs: 0 }, candidates);

let things = 0;
const newThing = (kind = 't1') => `${kind}_m${(things++).toString(36)}`;

async function newMonitor(): Promise<string> {
  return (await insertMonitors(database.pool, 1, { pack: 79 }))[0]!;
}

/** The candidates that mutes may refuse: [the mute's kind, its value, what is refused]. */
const KINDS = [
  { kind: 'subreddit', value: 'loud_place', refused: { subreddit: 'Loud_Place' } },
  { kind: 'author', value: 'a-bot', refused: { author: 'A-Bot' } },
  { kind: 'thread', value: 't3_abc', refused: { postId: 'abc' } },
] as const;

test.each(KINDS)(
  'a muted $kind is refused, by this monitor only, and is recorded once it is unmuted',
  async (given) => {
    const [monitorId, other] = [await newMonitor(), await newMonitor()];
    await mute(database.pool, monitorId, given.kind, given.value);
    const three = (id: string) => [
      candidateOf({ monitorId: id, thingId: newThing(), ...given.refused }),
      // The value of another kind.
      candidateOf({ monitorId: id, thingId: newThing(), subreddit: 'abc', author: 'loud_place', postId: 'a-bot' }),
      candidateOf({ monitorId: id, thingId: newThing() }),
    ];
    const { matches, outcomes } = await record([...three(monitorId), ...three(other)]);
    expect(outcomes).toEqual({ muted: 1, recorded: 5 });
    expect(matches.filter(({ monitor_id }) => monitor_id === monitorId)).toHaveLength(2);

    await database.pool.query('DELETE FROM monitor_mutes WHERE monitor_id = $1', [monitorId]);
    expect((await record(three(monitorId))).outcomes).toEqual({ recorded: 3 });
  },
);

test('a muted thread includes its post', async () => {
  const monitorId = await newMonitor();
  await mute(database.pool, monitorId, 'thread', 't3_post1');
  expect((await record([candidateOf({ monitorId, thingId: 't3_post1' })])).outcomes).toEqual({ muted: 1 });
});

test('what was recorded before the mute is published again as it was', async () => {
  const monitorId = await newMonitor();
  const before = Array.from({ length: 3 }, () => candidateOf({ monitorId, thingId: newThing(), author: 'a-bot' }));
  const first = await record(before);
  await mute(database.pool, monitorId, 'author', 'a-bot');
  const again = await record([...before, candidateOf({ monitorId, thingId: newThing(), author: 'a-bot' })]);
  expect(again.outcomes).toEqual({ repeated: 3, muted: 1 });
  expect(again.matches).toEqual(first.matches);
});
