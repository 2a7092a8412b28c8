import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import type { Candidate } from '../../../schemas/messages/candidate.ts';
import { MONITOR_CANDIDATES, TOPICS } from '../../../schemas/messages/topics.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { ensureTopics } from '../../../shared/kafka/topics/topic-admin.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { lockRecordingMonitors } from '../../../shared/stores/monitors/recording-monitors.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { candidateOf, insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import '../../support/runner/provided-context.ts';

const RECORDER_CHILD = join(import.meta.dirname, '../../support/children/recorder-child.ts');

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

/** Mutes as the API does: under the monitor's lock. Returns the seq of the last match before. */
async function mute(monitorId: string, kind: 'subreddit' | 'author' | 'thread', value: string): Promise<number> {
  return inTransaction(database.pool, async (client) => {
    await lockRecordingMonitors(client, [monitorId]);
    await client.query('INSERT INTO monitor_mutes (id, monitor_id, kind, value) VALUES ($1, $2, $3, $4)', [
      `mute_${(things++).toString(36)}`,
      monitorId,
      kind,
      value,
    ]);
    const { rows } = await client.query<{ last: number }>(
      'SELECT last_seq AS last FROM monitor_counters WHERE monitor_id = $1',
      [monitorId],
    );
    return rows[0]!.last;
  });
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
    await mute(monitorId, given.kind, given.value);
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
  await mute(monitorId, 'thread', 't3_post1');
  expect((await record([candidateOf({ monitorId, thingId: 't3_post1' })])).outcomes).toEqual({ muted: 1 });
});

test('text that Postgres cannot store is compared without stopping the recorder', async () => {
  const monitorId = await newMonitor();
  await mute(monitorId, 'author', 'a-bot');
  const candidate = candidateOf({ monitorId, thingId: newThing(), author: 'nul \u0000', subreddit: 'half \ud83d' });
  expect((await record([candidate])).outcomes).toEqual({ recorded: 1 });
});

test('what was recorded before the mute is published again as it was', async () => {
  const monitorId = await newMonitor();
  const before = Array.from({ length: 3 }, () => candidateOf({ monitorId, thingId: newThing(), author: 'a-bot' }));
  const first = await record(before);
  await mute(monitorId, 'author', 'a-bot');
  const again = await record([...before, candidateOf({ monitorId, thingId: newThing(), author: 'a-bot' })]);
  expect(again.outcomes).toEqual({ repeated: 3, muted: 1 });
  expect(again.matches).toEqual(first.matches);
});

test('the number of statements is the same for one muted candidate and for many', async () => {
  const monitors = await insertMonitors(database.pool, 20, { pack: 79 });
  for (const monitorId of monitors) await mute(monitorId, 'author', 'a-bot');
  const statements = async (candidates: Candidate[]) => {
    let sent = 0;
    await inTransaction(database.pool, async (client) => {
      const query = client.query.bind(client) as (...args: unknown[]) => unknown;
      Object.assign(client, { query: (...args: unknown[]) => ((sent += 1), query(...args)) });
      const { recordPairs } = await import('../../../services/recorder/record-pairs.ts');
      await recordPairs(client, candidates, { toleranceMs: 0, suppressedPerDay: 10_000 });
      Object.assign(client, { query });
    });
    return sent;
  };
  const some = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      candidateOf({ monitorId: monitors[index % 20]!, thingId: newThing(), ...(index % 2 ? {} : { author: 'a-bot' }) }),
    );
  const few = await statements(some(40));
  expect(await statements(some(1_000))).toBe(few);
});

test('a recorder in another process records nothing muted after the mute is committed', async () => {
  const kafka = await createKafkaFixture(inject('kafkaBrokers'));
  onTestFinished(() => kafka.drop());
  await ensureTopics(kafka.kafka, { prefix: kafka.prefix, embedded: true, topics: TOPICS });
  const monitorId = await newMonitor();
  const publish = (count: number) =>
    kafka.publisher.publish(
      MONITOR_CANDIDATES.name,
      Array.from({ length: count }, (_, index) => {
        const author = index % 2 === 0 ? 'A-Bot' : 'smith';
        return { key: monitorId, value: JSON.stringify(candidateOf({ monitorId, thingId: newThing(), author })) };
      }),
    );
  const options = { brokers: inject('kafkaBrokers'), prefix: kafka.prefix, postgresUrl: database.url };
  const child = spawn(process.execPath, [RECORDER_CHILD, JSON.stringify(options)], { stdio: 'inherit' });
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await new Promise((resolve) =>
      (child.exitCode ?? child.signalCode) ? resolve(undefined) : child.once('exit', resolve),
    );
  });
  const countOf = async (author: string, afterSeq = 0) => {
    const { rows } = await database.pool.query<{ n: number }>(
      `SELECT count(*) AS n FROM matches m JOIN matched_items i ON i.thing_id = m.thing_id
       WHERE m.monitor_id = $1 AND i.author = $2 AND m.seq > $3`,
      [monitorId, author, afterSeq],
    );
    return rows[0]!.n;
  };

  // Batches are in flight before, during and after the mute.
  const publishing = (async () => {
    for (let batch = 0; batch < 40; batch += 1) await publish(100);
  })();
  await eventually('the recorder has begun', async () => (await countOf('A-Bot')) > 0);
  const lastSeq = await mute(monitorId, 'author', 'a-bot');
  await publishing;
  await publish(100);
  await eventually('all others are recorded', async () => (await countOf('smith')) === 41 * 50);
  expect(await countOf('A-Bot', lastSeq)).toBe(0);
  expect(await countOf('A-Bot')).toBeLessThan(41 * 50);
});
