/**
 * `npm run --silent bench -- fan-out [--monitors N] [--items N] [--characters N]`: items that each match 5,000
 * monitors. Each match is a message of its own in monitor.candidates and in monitor.matches, and each message holds
 * the whole item. Reported: from the append of an item to the commit of its last match, one item at a time; matches a
 * second when 40 items come at once; bytes of both topics a match; processor time by process. Baseline: matches of as
 * many different items as there are matches for 5 monitors, so that nothing is copied more than 5 times.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { MONITOR_CANDIDATES, MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { Installation } from '../../support/children/installation.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import type { Report } from '../main.ts';
import { Resources } from '../shared/resources.ts';
import { percentiles } from '../shared/percentiles.ts';
import { topicBytes } from '../shared/topic-bytes.ts';

/** Monitors of the baseline that watch for one word. */
const FEW = 5;
const AT_A_TIME = 10;
const TIMEOUT_MS = 120_000;

interface Run {
  report: Report;
  installation: Installation;
  pool: Pool;
  monitors: number;
  items: number;
  /** Of an item. */
  text: string;
}

export default async function bench(report: Report, args: string[]): Promise<void> {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({
    args,
    options: { monitors: text('5000'), items: text('40'), characters: text('400') },
  });
  const installation = await Installation.prepare({ SIMULATOR_RATE: '0', SIMULATOR_HISTORY: '50' });
  try {
    await installation.start();
    const pool = createPool({ url: installation.endpoints().postgres, name: 'bench', logger: silentLogger() });
    const [monitors, items] = [Number(values.monitors), Number(values.items)];
    await insertWatching(pool, monitors, 'fanned');
    await insertWatching(pool, FEW, 'plain');
    const filler = 'words of no interest to anybody '.repeat(Math.ceil(Number(values.characters) / 32));
    try {
      await run({ report, installation, pool, monitors, items, text: filler });
    } finally {
      await pool.end();
    }
  } finally {
    await installation.remove();
  }
}

/** Monitors that watch for a word and may match as often as they like. */
async function insertWatching(pool: Pool, count: number, word: string): Promise<void> {
  const ids = await insertMonitors(pool, count, { pack: 79 });
  await pool.query('UPDATE monitors SET keywords = ARRAY[$2] WHERE id = ANY ($1)', [ids, word]);
}

async function run(all: Run): Promise<void> {
  const { report, pool, monitors, items } = all;
  // The matcher compares its monitors with the database every minute.
  console.error('waiting until the matcher knows the monitors');
  await eventually(
    'a first item is recorded',
    async () => {
      await emit(all, 'fanned', 1);
      await wait(2_000);
      return (await recorded(pool)) > 0;
    },
    TIMEOUT_MS,
  );
  await settled(pool);
  const lasts: number[] = [];
  for (let item = 0; item < AT_A_TIME; item++) {
    const before = await recorded(pool);
    await emit(all, 'fanned', 1);
    await until(pool, before + monitors);
    const { rows } = await pool.query<{ ms: number }>(
      `SELECT extract(epoch FROM max(created_at) - max(entered_at))::float * 1000 AS ms FROM matches
       WHERE thing_id = (SELECT thing_id FROM matches ORDER BY created_at DESC LIMIT 1)`,
    );
    lasts.push(rows[0]!.ms);
  }
  report({ run: 'append of an item to its last match, ms', monitors, ...percentiles(lasts) });
  await burst(all, 'fanned', items, items * monitors);
  await burst(all, 'plain', (items * monitors) / FEW / 10, (items * monitors) / 10);
}

/** All items at once. */
async function burst(all: Run, word: string, items: number, matches: number): Promise<void> {
  const { report, installation, pool } = all;
  const resources = new Resources();
  const sample = () => resources.take([installation.pid], new Map());
  const bytes = () => [MONITOR_CANDIDATES, MONITOR_MATCHES].map(({ name }) => topicBytes(installation.dataDir, name));
  const bytesBefore = bytes();
  const before = await recorded(pool);
  sample();
  const begun = performance.now();
  await emit(all, word, items);
  await until(pool, before + matches, sample);
  const seconds = (performance.now() - begun) / 1_000;
  const [candidates, published] = bytes().map((now, topic) => Math.round((now - bytesBefore[topic]!) / matches));
  report({
    run: `a burst of items with "${word}"`,
    items,
    matches,
    seconds: Math.round(seconds * 10) / 10,
    matches_per_second: Math.round(matches / seconds),
    bytes_a_candidate: candidates,
    bytes_a_match: published,
    seconds_of_processor: resources.seconds(),
    services_mb_most: resources.most('services'),
  });
}

async function emit({ installation, text }: Run, word: string, count: number): Promise<void> {
  const { simulator } = installation.endpoints();
  for (let item = 0; item < count; item++) {
    const body = JSON.stringify({ kind: 'comment', text: `${text} ${word} ${item}` });
    const answer = await fetch(`${simulator}/simulator/emit`, { method: 'POST', body });
    if (!answer.ok) throw new Error(`the simulator answered ${answer.status}`);
  }
}

async function recorded(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('SELECT sum(last_seq)::int AS count FROM monitor_counters');
  return rows[0]!.count;
}

async function until(pool: Pool, count: number, each: () => void = () => undefined): Promise<void> {
  const isReached = async () => {
    each();
    return (await recorded(pool)) >= count;
  };
  await eventually(`${count} matches are recorded`, isReached, TIMEOUT_MS);
}

/** Resolves when nothing new is recorded for three seconds. */
async function settled(pool: Pool): Promise<void> {
  for (let before = -1, now = await recorded(pool); before !== now;) {
    await wait(3_000);
    [before, now] = [now, await recorded(pool)];
  }
}
