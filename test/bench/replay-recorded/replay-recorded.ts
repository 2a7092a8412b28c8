/**
 * Replays every post and comment of the recorded responses (RECORDED_RESPONSES) through the whole pipeline against
 * 1,000 monitors of 5 keywords, and compares the recorded matches with a naive search.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Installation } from '../../support/children/installation.ts';
import type { Report } from '../main.ts';
import { plainWords, wordPattern, wordsIn } from '../../support/oracles/naive-word-search.ts';
import type { Thing } from '../../support/oracles/naive-word-search.ts';

const MONITORS = 1000;
const KEYWORDS = 5;
const MONITORS_PER_ACCOUNT = 100;

export default async function replayRecorded(report: Report): Promise<void> {
  const recording = resolve(process.env.RECORDED_RESPONSES ?? '../shared/data/upstream-responses.jsonl.xz');
  if (!existsSync(recording)) {
    report({ skipped: `RECORDED_RESPONSES: no file at ${recording}` });
    return;
  }
  const { things, distinct } = readThings(recording);
  const rules = drawRules(distinct);
  const installation = await Installation.prepare({ CRAWL_SOURCES: '', SIMULATOR_RATE: '0' });
  try {
    await installation.start();
    const monitors = await createMonitors(installation, rules);
    const expected = naiveMatches(distinct, monitors);
    const dump = join(installation.dataDir, 'things.jsonl');
    writeFileSync(dump, things.map((thing) => JSON.stringify(thing)).join('\n') + '\n');
    const recorded = await replay(installation, dump, expected.size);
    const missing = [...expected].filter((match) => !recorded.matches.has(match));
    const extra = [...recorded.matches].filter((match) => !expected.has(match));
    report({
      things: things.length,
      distinct_things: distinct.length,
      monitors: monitors.size,
      expected_matches: expected.size,
      recorded_matches: recorded.matches.size,
      missing: missing.length,
      extra: extra.length,
      equal: missing.length === 0 && extra.length === 0,
      seconds: Math.round(recorded.seconds * 100) / 100,
      items_per_second: Math.round(things.length / recorded.seconds),
      ...(missing.length + extra.length ? { examples: [...missing.slice(0, 10), ...extra.slice(0, 10)] } : {}),
    });
  } finally {
    await installation.remove();
  }
}

/** All {kind: t1|t3, data} in the recorded bodies at any depth, in file order, and the first copy of each. */
function readThings(recording: string): { things: Thing[]; distinct: Thing[] } {
  const text = spawnSync('xz', ['-dc', recording], { maxBuffer: 2 ** 30 }).stdout.toString();
  const things: Thing[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      value.forEach(visit);
    } else if (typeof value === 'object' && value !== null) {
      const { kind, data } = value as { kind?: unknown; data?: unknown };
      if ((kind === 't1' || kind === 't3') && typeof data === 'object' && data !== null)
        things.push({ kind, data: data as Thing['data'] });
      Object.values(value).forEach(visit);
    }
  };
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const { body } = JSON.parse(line) as { body: unknown };
    visit(typeof body === 'string' ? parsedOr(body) : body);
  }
  const distinct = new Map<string, Thing>();
  for (const thing of things) if (!distinct.has(fullname(thing))) distinct.set(fullname(thing), thing);
  return { things, distinct: [...distinct.values()] };
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fullname({ kind, data }: Thing): string {
  return `${kind}_${String(data.id)}`;
}

/** 1,000 times 5 words of the things, always the same, each word in one rule. */
function drawRules(things: Thing[]): string[][] {
  const words = [...new Set(things.flatMap(plainWords))].sort();
  let state = 20261121;
  const next = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const rules: string[][] = [];
  while (rules.length < MONITORS) {
    const rule = new Set<string>();
    while (rule.size < KEYWORDS) rule.add(words[next(words.length)]!);
    rules.push([...rule]);
  }
  return rules;
}

async function createMonitors(installation: Installation, rules: string[][]): Promise<Map<string, string[]>> {
  const monitors = new Map<string, string[]>();
  let key = '';
  for (const [index, keywords] of rules.entries()) {
    if (index % MONITORS_PER_ACCOUNT === 0) {
      const email = `replay${index}@example.com`;
      const credits = String(MONITORS_PER_ACCOUNT * 10);
      key = String(
        installation.admin('account', 'create', '--email', email, '--credits', credits, '--pack', '79').api_key,
      );
    }
    const answer = await installation.call(key, 'POST', '/v1/monitors', {
      name: `rule ${index}`,
      keywords,
      nsfw: true,
    });
    if (answer.status !== 201) throw new Error(`no monitor: ${JSON.stringify(answer.body)}`);
    monitors.set((answer.body as { monitor: { id: string } }).monitor.id, keywords);
  }
  return monitors;
}

function naiveMatches(things: Thing[], monitors: Map<string, string[]>): Set<string> {
  const watchers = new Map<string, string[]>();
  for (const [id, keywords] of monitors) {
    for (const word of keywords) watchers.set(word, [...(watchers.get(word) ?? []), id]);
  }
  const patterns = new Map([...watchers.keys()].map((word) => [word, wordPattern(word)]));
  const matches = new Set<string>();
  for (const thing of things) {
    for (const word of wordsIn(thing, patterns)) {
      for (const monitor of watchers.get(word)!) matches.add(`${monitor} ${fullname(thing)}`);
    }
  }
  return matches;
}

/** Runs a separate crawler on the dump until nothing more is recorded. */
async function replay(
  installation: Installation,
  dump: string,
  expected: number,
): Promise<{ matches: Set<string>; seconds: number }> {
  const { METRICS_PORT: _, ...env } = installation.env;
  const crawler = spawn(process.execPath, ['services/main.ts', 'crawler'], {
    env: { ...process.env, ...env, DATA_DIR: installation.dataDir, CRAWL_SOURCES: `replay:${dump}` },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const client = new pg.Client({ connectionString: installation.endpoints().postgres });
  await client.connect();
  try {
    let last = -1;
    let lastChange = Date.now();
    await eventually(
      'the replay is recorded',
      async () => {
        const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM matches');
        const count = Number(rows[0]!.count);
        if (count !== last) [last, lastChange] = [count, Date.now()];
        // Wait even if the expected number is reached, so that surplus matches have time to arrive.
        return Date.now() - lastChange > (count >= expected ? 5_000 : 20_000) && count > 0;
      },
      300_000,
    );
    const { rows } = await client.query<{ monitor_id: string; thing_id: string }>(
      'SELECT monitor_id, thing_id FROM matches',
    );
    const { rows: spans } = await client.query<{ seconds: string }>(
      'SELECT extract(epoch FROM max(created_at) - min(first_seen_at)) AS seconds FROM matches',
    );
    return {
      matches: new Set(rows.map((row) => `${row.monitor_id} ${row.thing_id}`)),
      seconds: Number(spans[0]!.seconds),
    };
  } finally {
    await client.end();
    crawler.kill('SIGTERM');
    await new Promise((done) => crawler.once('exit', done));
  }
}
