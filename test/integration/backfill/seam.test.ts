import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import {
  allMatches,
  endedRun,
  newestRun,
  publishItems,
  seenItem,
} from '../../support/fixtures/backfill/backfill-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await Pipeline.create();
});
afterAll(() => pipeline.drop());

test('a monitor that is created with backfill_hours under traffic has no hole between archive and live', async () => {
  const { api } = pipeline;
  await pipeline.start('matcher', 'recorder', 'backfills');
  const { apiKey } = await api.account();
  const published: ForumItem[] = [];
  let isOn = true;
  const traffic = async () => {
    for (let number = 0; isOn; number++) {
      const item = seenItem(`t1_seam${number.toString(36)}`, 0, { body: 'some rhenium' });
      await publishItems(pipeline, [item]);
      published.push(item);
    }
  };
  const running = traffic();
  await eventually('traffic before', () => published.length > 200);
  const body = { name: 'at the seam', keywords: ['rhenium'], backfill_hours: 1 };
  const created = await api.call(apiKey, 'POST', '/v1/monitors', body);
  expect(created.status).toBe(201);
  const { id } = created.body.monitor as { id: string };
  const after = published.length;
  await eventually('traffic afterwards', () => published.length > after + 200);
  isOn = false;
  await running;

  // The archive has nothing yet, so the run must not end, and live matches are not kept waiting.
  await eventually('live matches', async () => (await allMatches(pipeline, apiKey, id)).length > 100);
  await delay(1_500);
  expect(await newestRun(pipeline, apiKey, id)).toMatchObject({ state: 'running', matches: 0, scanned_to: null });
  await pipeline.start('archiver');
  const run = await endedRun(pipeline, apiKey, id);
  expect(run.state).toBe('done');
  expect(run.matches).toBeGreaterThan(100);

  await eventually('all are recorded', async () => {
    return (await allMatches(pipeline, apiKey, id)).length >= published.length;
  });
  const matches = await allMatches(pipeline, apiKey, id);
  expect(matches.map(({ thing_id }) => thing_id).sort()).toEqual(published.map(({ thing_id }) => thing_id).sort());
  const backfilled = new Set(matches.filter(({ backfill }) => backfill === true).map(({ thing_id }) => thing_id));
  // What entered after the answer is a live match; what was published long before it cannot be.
  const live = published.slice(after + 1).map(({ thing_id }) => thing_id);
  expect(live.filter((thing) => backfilled.has(thing))).toEqual([]);
  expect(published.slice(0, 150).filter(({ thing_id }) => !backfilled.has(thing_id))).toEqual([]);
});
