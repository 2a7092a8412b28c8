import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Candidate } from '../../../schemas/messages/monitor-match.ts';
import { recordedMatch } from '../../../schemas/messages/monitor-match.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { findStoredMatches } from '../../../shared/matches/recording.ts';
import { candidateOf, insertMonitors, mute } from '../../support/fixtures/recorder-fixtures.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { DECISION_CASES } from './decisions.cases.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.setShift('0'));

const record = (candidates: Candidate[], toleranceMs = 0) =>
  recordBatch({ pool: database.pool, toleranceMs }, candidates);

let things = 0;
const newThing = (kind: 't1' | 't3' = 't1') => `${kind}_r${(things++).toString(36)}`;

const someOf = (monitorId: string) => (count: number) =>
  Array.from({ length: count }, () => candidateOf({ monitorId, thingId: newThing() }));

async function rows<T>(statement: string, values: unknown[]): Promise<T[]> {
  return (await database.pool.query(statement, values)).rows as T[];
}
const storedOf = (monitorId: string) =>
  rows<Record<string, unknown>>('SELECT * FROM matches WHERE monitor_id = $1 ORDER BY seq', [monitorId]);
const countersOf = async (monitorId: string) =>
  (
    await rows<{ last_seq: number; last_match_at: Date; day: string }>(
      'SELECT last_seq, last_match_at, last_day::text AS day FROM monitor_counters WHERE monitor_id = $1',
      [monitorId],
    )
  )[0]!;
const daysOf = (monitorId: string) =>
  rows('SELECT day::text, matches, suppressed FROM monitor_days WHERE monitor_id = $1 ORDER BY day', [monitorId]);

async function newMonitor(setup: Parameters<typeof insertMonitors>[2] = {}): Promise<string> {
  return (await insertMonitors(database.pool, 1, setup))[0]!;
}

test('a match is stored, counted, and published as stored', async () => {
  const monitorId = await newMonitor({ webhookUrl: 'https://example.com/' });
  const candidate = candidateOf({
    monitorId,
    thingId: newThing('t3'),
    terms: ['rust', 'a "quoted\\" {term}, NULL', ''],
  });
  const { matches, outcomes } = await record([candidate]);
  expect(outcomes).toEqual({ recorded: 1 });
  const [stored] = await storedOf(monitorId);
  expect(stored).toMatchObject({
    seq: 1,
    kind: 'post',
    matched_terms: candidate.matched_terms,
    suppressed: false,
    first_delivery: 'pending',
    delivery_status: 'pending',
    attempt: 0,
    ladder_step: 0,
  });
  const createdAt = stored!.created_at as Date;
  expect((stored!.next_attempt_at as Date).getTime()).toBe(createdAt.getTime() + 3_000);
  const { v, monitor_id, matched_terms, entered_at, first_seen_at, item } = candidate;
  expect(matches).toEqual([
    {
      ...{ v, monitor_id, matched_terms, entered_at, first_seen_at, item },
      match_id: matchId(monitorId, 1),
      seq: 1,
      suppressed: false,
      first_delivery: 'pending',
      created_at: createdAt.toISOString(),
    },
  ]);
  expect(recordedMatch.parse(matches[0])).toEqual(matches[0]);
  const today = createdAt.toISOString().slice(0, 10);
  expect(await countersOf(monitorId)).toEqual({ last_seq: 1, last_match_at: createdAt, day: today });
  expect(await daysOf(monitorId)).toEqual([{ day: today, matches: 1, suppressed: 0 }]);
});

test('a thing that occurs twice in a batch becomes one match, from the first accepted candidate', async () => {
  const monitorId = await newMonitor({ version: 2 });
  const thingId = newThing();
  const refused = candidateOf({ monitorId, thingId, version: 1, terms: ['old rule'] });
  const first = candidateOf({ monitorId, thingId, version: 2, terms: ['first'] });
  const second = candidateOf({ monitorId, thingId, version: 2, terms: ['second'] });
  const { matches, outcomes } = await record([refused, first, second]);
  expect(outcomes).toEqual({ recorded: 1, duplicate: 1, rule_changed: 1 });
  expect(matches.map((match) => match.matched_terms)).toEqual([['first']]);
  expect((await countersOf(monitorId)).last_seq).toBe(1);
});

test('a repeated batch stores nothing and publishes the same bytes', async () => {
  const ids = await insertMonitors(database.pool, 3, { webhookUrl: 'https://example.com/' });
  const batch = Array.from({ length: 12 }, (_, index) =>
    candidateOf({ monitorId: ids[index % 3]!, thingId: newThing(), terms: [`term ${index}`] }),
  );
  const first = await record(batch);
  await database.setShift('2 days');
  const again = await record([...batch.toReversed(), ...batch]);
  expect(again.outcomes).toEqual({ repeated: 24 });
  expect(again.matches.map((match) => JSON.stringify(match))).toEqual(
    first.matches.map((match) => JSON.stringify(match)),
  );
  for (const monitorId of ids) expect((await countersOf(monitorId)).last_seq).toBe(4);
});

test.each([
  { change: 'paused', sql: `UPDATE monitors SET status = 'paused' WHERE id = $1` },
  { change: 'deleted', sql: `UPDATE monitors SET status = 'deleted' WHERE id = $1` },
  { change: 'given another rule', sql: `UPDATE monitors SET version = 7 WHERE id = $1` },
  { change: 'without its webhook', sql: 'UPDATE monitors SET webhook_url = NULL, webhook_kind = NULL WHERE id = $1' },
  { change: 'resumed', sql: `UPDATE monitors SET active_since = now() + interval '1 day' WHERE id = $1` },
])('a repeat publishes the first match again after the monitor is $change', async ({ sql }) => {
  const monitorId = await newMonitor({ webhookUrl: 'https://example.com/' });
  const thingId = newThing();
  const { matches } = await record([candidateOf({ monitorId, thingId, terms: ['first'], body: 'first body' })]);
  await database.pool.query(sql, [monitorId]);
  const unseen = candidateOf({ monitorId, thingId: newThing(), version: 7, enteredAt: '2020-01-01T00:00:00.000Z' });
  const later = candidateOf({ monitorId, thingId, version: 7, terms: ['later'], body: 'edited', title: 'Edited' });
  const again = await record([later, unseen]);
  expect(again.matches).toEqual(matches);
  expect(again.outcomes.repeated).toBe(1);
  expect(await storedOf(monitorId)).toHaveLength(1);
});

test('suppresses matches daily cap reached until the UTC day changes', async () => {
  const monitorId = await newMonitor({ webhookUrl: 'https://example.com/' });
  const some = someOf(monitorId);
  const started = Date.now();
  await database.moveToNoon(1, started);
  expect((await record(some(199))).outcomes).toEqual({ recorded: 199 });
  expect((await record(some(3))).outcomes).toEqual({ recorded: 1, suppressed: 2 });
  expect((await record(some(1))).matches[0]).toMatchObject({ seq: 203, suppressed: true, first_delivery: 'skipped' });
  expect((await storedOf(monitorId)).at(-1)).toMatchObject({ delivery_status: 'skipped', next_attempt_at: null });
  const { day: before } = await countersOf(monitorId);

  await database.moveToNoon(2, started);
  expect((await record(some(2))).outcomes).toEqual({ recorded: 2 });
  const { day: after } = await countersOf(monitorId);
  expect(Date.parse(after) - Date.parse(before)).toBe(86_400_000);
  expect(await daysOf(monitorId)).toEqual([
    { day: before, matches: 200, suppressed: 3 },
    { day: after, matches: 2, suppressed: 0 },
  ]);

  // The clock steps back across midnight; days and times of matches do not.
  await database.moveToNoon(1);
  await record(some(1));
  expect(await daysOf(monitorId)).toMatchObject([{ matches: 200 }, { day: after, matches: 3 }]);
  const times = (await storedOf(monitorId)).map((row) => (row.created_at as Date).getTime());
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test('a thing that the forum removed is stored and published blank', async () => {
  const monitorId = await newMonitor();
  const thingId = newThing();
  await database.pool.query('INSERT INTO removed_things (thing_id, at) VALUES ($1, service_now())', [thingId]);
  // The content must never be stored, not even briefly: a crash could make that long.
  await database.pool.query(
    `ALTER TABLE matched_items ADD CONSTRAINT no_regrets CHECK (body <> 'regretted') NOT VALID`,
  );
  const { matches } = await record([candidateOf({ monitorId, thingId, body: 'regretted' })]);
  await database.pool.query('ALTER TABLE matched_items DROP CONSTRAINT no_regrets');
  const blank = { author: '[deleted]', title: '', body: '' };
  expect(matches[0]!.item).toMatchObject({ thing_id: thingId, subreddit: 'metals', ...blank });
  expect(await rows('SELECT author, title, body FROM matched_items WHERE thing_id = $1', [thingId])).toEqual([blank]);
});

test('blanks a thing that was removed between storing and publishing', async () => {
  const monitorId = await newMonitor();
  const candidate = candidateOf({ monitorId, thingId: newThing(), body: 'regretted' });
  await record([candidate]);
  await database.pool.query('INSERT INTO removed_things (thing_id, at) VALUES ($1, service_now())', [
    candidate.item.thing_id,
  ]);
  expect((await record([candidate])).matches[0]!.item.body).toBe('');
  expect(await rows('SELECT body FROM matched_items WHERE thing_id = $1', [candidate.item.thing_id])).toEqual([
    { body: '' },
  ]);
});

test('text that Postgres cannot store does not stop the recorder and is published as stored', async () => {
  const monitorId = await newMonitor();
  const candidate = candidateOf({ monitorId, thingId: newThing(), body: 'nul \u0000, half \ud83d', terms: ['\udc00'] });
  const { matches } = await record([candidate]);
  expect(matches[0]!.item.body).toBe('nul \ufffd, half \ufffd');
  expect((await record([candidate])).matches).toEqual(matches);
});

// The decision does not depend on the time of day, so the cases may have any time.
const ACTIVE_SINCE = Date.parse('2026-01-01T12:00:00.000Z');
const at = (offset: number) => new Date(ACTIVE_SINCE + offset).toISOString();

test.each(DECISION_CASES)('state at entering: $name (tolerance $tolerance): $expected', async (given) => {
  const { status = 'active', version = 1, tolerance = 0 } = given;
  const storedStatus = status === 'gone' ? 'active' : status;
  const monitorId = await newMonitor({ status: storedStatus, version, activeSince: at(0) });
  if (status === 'gone') await database.pool.query('DELETE FROM monitor_counters WHERE monitor_id = $1', [monitorId]);
  await database.pool.query('DELETE FROM monitor_versions WHERE monitor_id = $1', [monitorId]);
  if (given.muted) {
    await mute(database.pool, monitorId, 'subreddit', 'metals');
  }
  for (const [begun, offset] of Object.entries(given.starts ?? {})) {
    await database.pool.query('INSERT INTO monitor_versions VALUES ($1, $2, $3)', [monitorId, begun, at(offset)]);
  }
  const candidate = candidateOf({
    monitorId,
    thingId: newThing(),
    version: given.candidateVersion ?? 1,
    enteredAt: at(given.entered),
    createdUtc: at(given.created ?? given.entered),
    replay: given.replay ?? false,
  });
  const { matches, outcomes } = await record([candidate], tolerance);
  expect(outcomes).toEqual({ [given.expected ?? 'recorded']: 1 });
  expect(matches).toHaveLength(given.expected ? 0 : 1);
});

test('what was recorded before the mute is published again as it was', async () => {
  const monitorId = await newMonitor({ pack: 79 });
  const before = Array.from({ length: 3 }, () => candidateOf({ monitorId, thingId: newThing(), author: 'a-bot' }));
  const first = await record(before);
  await mute(database.pool, monitorId, 'author', 'a-bot');
  const again = await record([...before, candidateOf({ monitorId, thingId: newThing(), author: 'a-bot' })]);
  expect(again.outcomes).toEqual({ repeated: 3, muted: 1 });
  expect(again.matches).toEqual(first.matches);
});

test('the lookup that was planned while there were no matches does not read all of them later', async () => {
  const db = await database.pool.connect();
  try {
    const monitorId = await newMonitor();
    const pairs = Array.from({ length: 500 }, (_, number) => ({ monitorId, thingId: `t1_plan${number}` }));
    // Postgres keeps a plan after five executions.
    for (let execution = 0; execution < 6; execution++) expect(await findStoredMatches(db, pairs)).toEqual([]);
    await db.query(
      `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms,
         suppressed, first_delivery, delivery_status)
       SELECT $1, number, 't1_plan' || number, 'comment', now(), now(), now(), '{rust}', false, 'none', 'none'
       FROM generate_series(1, 2000) AS number`,
      [monitorId],
    );
    const { rows } = await db.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN EXECUTE "recording-find-stored-matches" (ARRAY['${monitorId}'], ARRAY['t1_plan1'])`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toContain('Seq Scan');
    expect(plan).toContain('matches_monitor_id_thing_id_key');
    expect(await findStoredMatches(db, pairs)).toHaveLength(499);
  } finally {
    db.release();
  }
});
