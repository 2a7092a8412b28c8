import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { RECORDER_GROUP } from '../../../schemas/messages/consumer-groups.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import {
  allMatches,
  endedRun,
  publishedMatches,
  publishItems,
  seenItem,
  untilArchived,
} from '../../support/fixtures/backfill/backfill-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';

const RECORDER_CHILD = join(import.meta.dirname, '../../support/children/recorder-child.ts');
const HOUR = 3_600_000;
const SEED = 20_261_122;
/** A process is killed after so many more matches: beside live traffic a run records 100 at once. */
const KILL_EVERY = 100;

let pipeline: Pipeline;
const children = new Set<ChildProcess>();

beforeEach(async () => {
  pipeline = await Pipeline.create();
});
afterEach(async () => {
  const exits = [...children].map(exitOf);
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(exits);
  // Members that were killed leave the group when their session ends.
  await eventually('the group of the recorders is empty', async () => {
    const { kafka, prefix } = pipeline.kafka;
    const { groups } = await kafka.withAdmin((admin) => admin.describeGroups([prefix + RECORDER_GROUP]));
    return groups[0]!.members.length === 0;
  });
  await pipeline.drop();
}, 90_000);

/** A recorder with backfills in a process of its own. */
function startChild(more: { killedAfter?: number; killedBefore?: number } = {}): ChildProcess {
  const { kafka, db, clickhouseUrl } = pipeline;
  const backfills = { clickhouseUrl, leaseSeconds: 1 };
  const brokers = inject('kafkaBrokers');
  const options = { brokers, prefix: kafka.prefix, postgresUrl: db.url, backfills, ...more };
  const child = spawn(process.execPath, [RECORDER_CHILD, JSON.stringify(options)], { stdio: 'inherit' });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

const exitOf = (child: ChildProcess) => new Promise((resolve) => child.once('exit', (_code, name) => resolve(name)));

/** Old comments with these words, a second apart, the oldest first. */
function oldComments(name: string, count: number, body: string): ForumItem[] {
  return Array.from({ length: count }, (_, number) =>
    seenItem(`t1_${name}${number.toString(36).padStart(4, '0')}`, 2 * HOUR + (count - number) * 1_000, { body }),
  );
}

async function startRun(apiKey: string, id: string): Promise<void> {
  const from = new Date(Date.now() - 24 * HOUR).toISOString();
  const reply = await pipeline.api.call(apiKey, 'POST', `/v1/monitors/${id}/backfill`, { from });
  if (reply.status !== 202) throw new Error(reply.text);
}

/** Numbers without holes, no pair twice, credits and ledger as recorded, everything published. */
async function expectConsistent(apiKey: string, accountId: string, ids: readonly string[]): Promise<void> {
  const published = await publishedMatches(pipeline);
  for (const id of ids) {
    const matches = await allMatches(pipeline, apiKey, id);
    expect(matches.map((match) => Number(match.id.slice(-12)))).toEqual(matches.map((_, index) => index + 1));
    expect(new Set(matches.map(({ thing_id }) => thing_id)).size).toBe(matches.length);
    const seqs = new Set(published.filter(({ monitor_id }) => monitor_id === id).map(({ seq }) => seq));
    expect(seqs.size).toBe(matches.length);
    const { rows } = await pipeline.db.pool.query<{ found: number; known: number; credits: number; due: number }>(
      `SELECT sum(matches)::int AS found, sum(credits)::int AS credits, sum(ceil(matches / 100.0))::int AS due
       FROM backfills WHERE monitor_id = $1`,
      [id],
    );
    expect(rows[0]!.found).toBe(matches.filter(({ backfill }) => backfill === true).length);
    expect(rows[0]!.credits).toBe(rows[0]!.due);
  }
  const { rows } = await pipeline.db.pool.query(
    `SELECT (SELECT sum(-amount)::int FROM ledger_entries WHERE account_id = $1 AND kind = 'backfill') AS paid,
            (SELECT sum(credits)::int FROM backfills WHERE account_id = $1) AS credits,
            (SELECT sum(amount)::int FROM ledger_entries WHERE account_id = $1) = a.balance AS balanced
     FROM accounts a WHERE id = $1`,
    [accountId],
  );
  const [money] = rows as [{ paid: number | null; credits: number; balanced: boolean }];
  expect([money.paid ?? 0, money.balanced]).toEqual([money.credits, true]);
}

test('a run goes on after kill -9 before and after each of its commits, and publishes what was committed', async () => {
  await pipeline.start('archiver', 'matcher');
  const { apiKey, accountId } = await pipeline.api.account();
  const items = oldComments('kill', 4_700, 'some gallium');
  await publishItems(pipeline, items);
  await untilArchived(pipeline, items.length);
  const { id } = await pipeline.api.monitor(apiKey, { keywords: ['gallium'] });
  await startRun(apiKey, id);
  const stateOfRun = async () => {
    const { rows } = await pipeline.db.pool.query<{ matches: number; isUnpublished: boolean; isFree: boolean }>(
      `SELECT matches, published_seq IS DISTINCT FROM last_seq AS "isUnpublished",
         lease_until > service_now() IS NOT TRUE AS "isFree"
       FROM backfills`,
    );
    return rows[0]!;
  };
  // Commits claim the run, or record up to 500 matches; the other worker claims nothing now and then.
  const points = [{ killedAfter: 1 }, { killedBefore: 2 }, { killedAfter: 3 }, { killedBefore: 4 }, { killedAfter: 4 }];
  let wasUnpublished = false;
  for (const point of points) {
    expect(await exitOf(startChild(point))).toBe('SIGKILL');
    wasUnpublished ||= (await stateOfRun()).isUnpublished;
    // Workers of the next process would claim nothing until then, which are commits too.
    await eventually('the lease of the killed process ends', async () => (await stateOfRun()).isFree);
  }
  expect(wasUnpublished).toBe(true);
  expect((await stateOfRun()).matches).toBeLessThan(items.length);
  startChild();
  expect(await endedRun(pipeline, apiKey, id)).toMatchObject({
    state: 'done',
    matches: 4_700,
    credits: 47,
    already_known: 0,
  });
  expect((await allMatches(pipeline, apiKey, id)).map(({ thing_id }) => thing_id)).toEqual(
    items.map(({ thing_id }) => thing_id),
  );
  await expectConsistent(apiKey, accountId, [id]);
});

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

  const processes = [startChild(), startChild()];
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
  const progress = async (): Promise<{ matches: number; running: number }> => {
    const { rows } = await pipeline.db.pool.query<{ matches: number; running: number }>(
      `SELECT sum(matches)::int AS matches, (count(*) FILTER (WHERE state = 'running'))::int AS running FROM backfills`,
    );
    return rows[0]!;
  };
  let kills = 0;
  // In the middle of the work, in the process that does it or in the other one.
  const killing = async () => {
    let { matches } = await progress();
    while (!signal.aborted) {
      const now = await progress();
      if (now.running === 0) return;
      if (now.matches > matches + KILL_EVERY) {
        await delay(300 * chance(), signal);
        const at = chance() < 0.5 ? 0 : 1;
        processes[at]!.kill('SIGKILL');
        processes[at] = startChild();
        kills += 1;
        ({ matches } = await progress());
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
  const startAll = async () => {
    for (const id of ids) await startRun(keyOf.get(id)!, id);
  };
  const endedRuns = async () => {
    const runs = await Promise.all(ids.map((id) => endedRun(pipeline, keyOf.get(id)!, id, 180_000)));
    expect(runs.map(({ state }) => state)).toEqual(['done', 'done', 'done']);
    return runs;
  };
  await startAll();
  await killing();
  await endedRuns();
  expect(kills).toBeGreaterThan(3);
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

  await expectConsistent(accounts[0].apiKey, accounts[0].accountId, [untouched, edited]);
  await expectConsistent(accounts[1].apiKey, accounts[1].accountId, [paused]);
  for (const id of ids) {
    const matches = await matchesOf(id);
    expect(polled.get(id)!.map((match) => match.id)).toEqual(matches.map((match) => match.id));
    const found = matches.filter(({ thing_id }) => thing_id.startsWith('t1_old')).map(({ thing_id }) => thing_id);
    expect(found).toEqual(old.map(({ thing_id }) => thing_id));
  }
  const all = new Set((await matchesOf(untouched)).map(({ thing_id }) => thing_id));
  expect(live.filter(({ thing_id }) => !all.has(thing_id))).toEqual([]);
}, 600_000);
