import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FORUM_COMMENTS } from '../../../schemas/messages/topics.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { commentItem } from '../../support/samples/forum-items.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';

const BOTH = 'alpha and beta, both in every comment';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await Pipeline.create();
  await pipeline.start('recorder', 'matcher');
});
afterAll(() => pipeline.drop());

interface Entered {
  name: string;
  /** The broker's append time, in milliseconds since the epoch. */
  at: number;
}

let published = 0;
let entered: Entered[] = [];

/** Publishes comments, each with both words, while `work` runs. */
async function whileCommentsFlow(work: () => Promise<void>): Promise<void> {
  const done = new AbortController();
  const flow = (async () => {
    while (!done.signal.aborted) {
      const batch = [commentItem(published++, BOTH), commentItem(published++, BOTH)];
      const records = batch.map((item) => ({ key: item.thing_id, value: JSON.stringify(item) }));
      await pipeline.kafka.publisher.publish(FORUM_COMMENTS.name, records);
      await wait(5);
    }
  })();
  try {
    await work();
  } finally {
    done.abort();
    await flow;
  }
}

/** Waits until this many more comments have entered. */
async function moreComments(count: number): Promise<void> {
  const from = published;
  await eventually(`${count} more comments`, () => published >= from + count);
}

/** Reads all published comments with their append times. */
async function readEntered(): Promise<Entered[]> {
  const { kafka, prefix } = pipeline.kafka;
  const consumer = kafka.client.consumer({ groupId: `${prefix}reader-${published}` });
  const read: Entered[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic: prefix + FORUM_COMMENTS.name, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachMessage: ({ message }) => {
      read.push({ name: message.key!.toString(), at: Number(message.timestamp) });
      return Promise.resolve();
    },
  });
  await eventually('all comments read back', () => read.length >= published);
  await consumer.disconnect();
  return read;
}

async function recordedTerms(monitor: string): Promise<Map<string, string[]>> {
  const { rows } = await pipeline.db.pool.query<{ thing_id: string; matched_terms: string[] }>(
    'SELECT thing_id, matched_terms FROM matches WHERE monitor_id = $1 ORDER BY seq',
    [monitor],
  );
  expect(new Set(rows.map(({ thing_id }) => thing_id)).size).toBe(rows.length);
  return new Map(rows.map(({ thing_id, matched_terms }) => [thing_id, matched_terms]));
}

/** Waits until the given comments are recorded with the given terms. */
async function expectRecorded(monitor: string, wanted: Entered[], terms: string[]): Promise<void> {
  await eventually(`${wanted.length} comments recorded as ${terms.join()}`, async () => {
    const recorded = await recordedTerms(monitor);
    const missing = wanted.filter(({ name }) => recorded.get(name)?.join() !== terms.join());
    if (missing.length > 0) throw new Error(`${missing.length} missing, such as ${missing[0]!.name}`);
    return true;
  });
}

test('PATCH during a flow of items: earlier items match either rule, items after the answer only the new one', async () => {
  const { apiKey } = await pipeline.api.account();
  const { id } = await pipeline.api.monitor(apiKey, { keywords: ['alpha'] });
  const times = { created: Date.now(), answered: 0 };
  let recordedBefore = new Map<string, string[]>();
  await whileCommentsFlow(async () => {
    recordedBefore = await eventually('20 comments recorded', async () => {
      const recorded = await recordedTerms(id);
      return recorded.size > 20 && recorded;
    });
    const reply = await pipeline.api.call(apiKey, 'PATCH', `/v1/monitors/${id}`, { keywords: ['beta'] });
    times.answered = Date.now();
    expect(reply.status).toBe(200);
    await moreComments(30);
  });
  entered = (await readEntered()).filter(({ at }) => at >= times.created);
  const before = entered.filter(({ at }) => at <= times.answered);
  const after = entered.filter(({ at }) => at > times.answered);
  expect(after.length).toBeGreaterThan(20);
  await expectRecorded(id, after, ['beta']);
  // Items in flight while the rule changed match either rule, and each is recorded exactly once.
  const recorded = await recordedTerms(id);
  expect(before.filter(({ name }) => !recorded.has(name))).toEqual([]);
  expect([...recorded.values()].filter((terms) => terms.length !== 1)).toEqual([]);
  // Matches recorded by the old rule stay unchanged.
  const rewritten = [...recordedBefore].filter(([name]) => recorded.get(name)?.join() !== 'alpha');
  expect(rewritten).toEqual([]);
});

test('pause and resume during a flow of items: nothing is recorded between the answers, everything after resume', async () => {
  const { apiKey } = await pipeline.api.account();
  const { id } = await pipeline.api.monitor(apiKey, { keywords: ['alpha'] });
  const times = { created: Date.now(), paused: 0, resuming: 0, resumed: 0 };
  await whileCommentsFlow(async () => {
    await moreComments(30);
    await pipeline.api.call(apiKey, 'POST', `/v1/monitors/${id}/pause`);
    times.paused = Date.now();
    const atPause = (await recordedTerms(id)).size;
    await moreComments(30);
    // A pause stops matches at once, including those of items in flight.
    expect((await recordedTerms(id)).size).toBe(atPause);
    times.resuming = Date.now();
    const reply = await pipeline.api.call(apiKey, 'POST', `/v1/monitors/${id}/resume`);
    expect(reply.status).toBe(200);
    times.resumed = Date.now();
    await moreComments(30);
  });
  entered = (await readEntered()).filter(({ at }) => at >= times.created);
  const after = entered.filter(({ at }) => at > times.resumed);
  expect(after.length).toBeGreaterThan(20);
  await expectRecorded(id, after, ['alpha']);
  const recorded = await recordedTerms(id);
  const paused = entered.filter(({ at }) => at > times.paused && at < times.resuming);
  expect(paused.length).toBeGreaterThan(20);
  expect(paused.filter(({ name }) => recorded.has(name))).toEqual([]);
});
