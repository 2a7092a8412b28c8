import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import {
  allMatches,
  endedRun,
  publishItems,
  seenItem,
  untilArchived,
} from '../../support/fixtures/backfill/backfill-fixture.ts';
import {
  expectConsistent,
  oldComments,
  RecorderChildren,
  startRun,
} from '../../support/fixtures/backfill/killed-recorders.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';

const SEED = 20_261_122;
/** A process is killed after so many more decided things: beside live traffic a run decides 100 at once. */
const KILL_EVERY = 100;
const LEAST_KILLS = 4;

let pipeline: Pipeline;
let recorders: RecorderChildren;
/** Ends what runs beside the runs, also when an expectation failed. */
let stopOthers: () => Promise<unknown> = () => Promise.resolve();

beforeEach(async () => {
  pipeline = await Pipeline.create();
  recorders = new RecorderChildren(pipeline);
});
afterEach(async () => {
  await stopOthers();
  await recorders.stop();
  await pipeline.drop();
}, 90_000);

test('live traffic, edits and pauses beside backfills in two processes that are killed again and again', async () => {
  await pipeline.start('archiver', 'matcher');
  const { api } = pipeline;
  // An account has one run at a time: of the first one two runs in turn, beside that of the second one.
  const accounts = [await api.account({ credits: 5_000 }), await api.account({ credits: 5_000 })] as const;
  const old = oldComments('old', 900, 'indium, thallium and bismuth');
  await publishItems(pipeline, old);
  await untilArchived(pipeline, old.length);
  const keyOf = new Map<string, string>();
  const monitor = async ({ apiKey }: (typeof accounts)[number], keyword: string): Promise<string> => {
    const { id } = await api.monitor(apiKey, { keywords: [keyword] });
    keyOf.set(id, apiKey);
    return id;
  };
  const untouched = await monitor(accounts[0], 'indium');
  const edited = await monitor(accounts[0], 'thallium');
  const paused = await monitor(accounts[1], 'bismuth');
  const ids = [untouched, edited, paused];
  const callOf = (id: string, method: string, path: string, body?: object) =>
    api.call(keyOf.get(id), method, `/v1/monitors/${id}${path}`, body);
  const matchesOf = (id: string) => allMatches(pipeline, keyOf.get(id)!, id);

  const processes = [recorders.start(), recorders.start()];
  let random = SEED;
  const chance = () => (random = (random * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  const stopping = new AbortController();
  const { signal } = stopping;
  const live: ForumItem[] = [];

  const traffic = async () => {
    for (let number = 0; !signal.aborted; number++) {
      const items = Array.from({ length: 10 }, (_, at) =>
        seenItem(`t1_live${(number * 10 + at).toString(36)}`, 0, { body: 'indium, thallium and bismuth' }),
      );
      await publishItems(pipeline, items);
      live.push(...items);
      await delay(200, signal);
    }
  };
  const progress = async (): Promise<{ decided: number; running: number }> => {
    const { rows } = await pipeline.db.pool.query<{ decided: number; running: number }>(
      `SELECT sum(matches + already_known)::int AS decided,
              (count(*) FILTER (WHERE state = 'running'))::int AS running FROM backfills`,
    );
    return rows[0]!;
  };
  let kills = 0;
  // In the middle of the work, in the process that does it or in the other one.
  const killing = async () => {
    let { decided } = await progress();
    while (!signal.aborted) {
      const now = await progress();
      if (now.running === 0) return;
      if (now.decided > decided + KILL_EVERY) {
        await delay(300 * chance(), signal);
        const at = chance() < 0.5 ? 0 : 1;
        processes[at]!.kill('SIGKILL');
        processes[at] = recorders.start();
        kills += 1;
        ({ decided } = await progress());
      }
      await delay(20, signal);
    }
  };
  const changing = async () => {
    for (let round = 0; !signal.aborted; round++) {
      await delay(500, signal);
      const keywords = round % 2 === 0 ? ['thallium', 'lead'] : ['thallium'];
      await callOf(edited, 'PATCH', '', { keywords });
      await callOf(paused, 'POST', round % 2 === 0 ? '/pause' : '/resume');
    }
  };
  const polled = new Map<string, MonitorMatch[]>(ids.map((id) => [id, []]));
  const polling = async (id: string, goesOn: () => boolean) => {
    const seen = polled.get(id)!;
    while (goesOn()) {
      const after = seen.length === 0 ? '' : `&after=${seen.at(-1)!.id}`;
      const { body } = await callOf(id, 'GET', `/matches?order=oldest&limit=100${after}`);
      seen.push(...(body.items as MonitorMatch[]));
      if ((body.items as unknown[]).length === 0) await delay(50);
    }
  };
  let isPolling = true;
  const others = [traffic(), changing()];
  const pollers = ids.map((id) => polling(id, () => isPolling));
  stopOthers = () => {
    stopping.abort();
    isPolling = false;
    return Promise.allSettled([...others, ...pollers]);
  };
  const startAll = async () => {
    for (const id of ids) await startRun(pipeline, keyOf.get(id)!, id);
  };
  const endedRuns = async () => {
    const runs = await Promise.all(ids.map((id) => endedRun(pipeline, keyOf.get(id)!, id, 180_000)));
    expect(runs.map(({ state }) => state)).toEqual(['done', 'done', 'done']);
    return runs;
  };
  // A recorder that starts slowly leaves the work to the other one: as many rounds as the kills need.
  for (let round = 1; kills < LEAST_KILLS; round++) {
    expect(round).toBeLessThanOrEqual(10);
    await startAll();
    await killing();
    await endedRuns();
  }
  stopping.abort();
  await Promise.all(others);
  // What is recorded is found again, whatever was killed in between. Without live traffic, runs need not rest.
  await startAll();
  for (const run of await endedRuns()) expect(run.already_known).toBeGreaterThanOrEqual(old.length);
  await eventually('the last live item is a match', async () => {
    const { rowCount } = await pipeline.db.pool.query('SELECT FROM matches WHERE monitor_id = $1 AND thing_id = $2', [
      untouched,
      live.at(-1)!.thing_id,
    ]);
    return rowCount === 1;
  });
  await eventually('all recorders are at the end', async () => {
    const { rows } = await pipeline.db.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM matches');
    await delay(1_500);
    const later = await pipeline.db.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM matches');
    return rows[0]!.n === later.rows[0]!.n;
  });
  const counts = await Promise.all(ids.map(async (id) => (await matchesOf(id)).length));
  await eventually('the pollers are at the end', () => ids.every((id, at) => polled.get(id)!.length >= counts[at]!));
  isPolling = false;
  await Promise.all(pollers);

  await expectConsistent(pipeline, accounts[0], [untouched, edited]);
  await expectConsistent(pipeline, accounts[1], [paused]);
  for (const id of ids) {
    const matches = await matchesOf(id);
    expect(polled.get(id)!.map((match) => match.id)).toEqual(matches.map((match) => match.id));
    const found = matches.filter(({ thing_id }) => thing_id.startsWith('t1_old')).map(({ thing_id }) => thing_id);
    expect(found).toEqual(old.map(({ thing_id }) => thing_id));
  }
  const all = new Set((await matchesOf(untouched)).map(({ thing_id }) => thing_id));
  expect(live.filter(({ thing_id }) => !all.has(thing_id))).toEqual([]);
}, 600_000);
