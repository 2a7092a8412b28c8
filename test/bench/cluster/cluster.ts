/**
 * `npm run --silent bench -- cluster [--minutes N] [--rate N] [--calm] [--only WORD]`: three brokers, a PostgreSQL
 * primary with a standby that each commit waits for, ClickHouse, and two processes of each service, all on this host,
 * read a simulated forum of `rate` items a second (300) for N minutes (10). Unless it is calm, in turn a broker, the
 * leader of a partition under load and each process of a service are killed by SIGKILL and started again, a broker is
 * stopped by SIGSTOP for 40 s, so that it hangs, and halfway the primary is killed, whose standby is promoted; `--only`
 * names the kinds of death that are wanted. Reported: for each kind the time from an item's append to the record of its
 * match and to its webhook around it; and at the end what is lost, recorded twice, numbered with holes or charged
 * wrongly, compared with a naive search in what the simulator emitted.
 */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startClusterEngines } from '../../support/cluster/cluster-engines.ts';
import type { ClusterEngines } from '../../support/cluster/cluster-engines.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { cleanUpAfter } from '../../support/children/clean-up-after.ts';
import { Installation } from '../../support/children/installation.ts';
import { ServiceProcess } from '../../support/children/service-process.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import type { Report } from '../main.ts';
import { percentiles } from '../shared/percentiles.ts';
import { deathsOf } from './deaths.ts';
import type { Death } from './deaths.ts';
import { explainLost } from './lost.ts';
import { ExpectedPairs, KEYWORDS } from '../../support/oracles/expected-pairs.ts';
import { readRecorded } from '../../support/oracles/recorded-matches.ts';
import type { Recorded } from '../../support/oracles/recorded-matches.ts';

const SECOND_SERVICES = ['matcher', 'recorder', 'archiver', 'deliverer', 'crawler', 'biller'];
/** Until the groups of the second processes have settled. */
const WARM_UP_MS = 60_000;
/** Between the death of a process and the next one, unless it takes longer to be as before. */
const BETWEEN_MS = 25_000;
/** Matches that were appended within this time of a death belong to it. */
const AROUND_MS = 20_000;

interface Cluster {
  engines: ClusterEngines;
  installation: Installation;
  second: Map<string, ServiceProcess>;
  receiver: WebhookReceiver;
}

export default async function bench(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '10' },
      rate: { type: 'string', default: '300' },
      calm: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
    },
  });
  const dataDir = mkdtempSync(join(tmpdir(), 'forum-bench-cluster-'));
  const progress = (line: string) => console.error(line);
  const engines = await startClusterEngines({ dataDir, env: process.env, brokers: 3, synchronous: true, progress });
  const receiver = await startWebhookReceiver();
  const installation = await Installation.prepare({
    ...engines.env,
    SECRET_KEY: 'a key of the benchmark, not of anybody',
    SIMULATOR_RATE: values.rate,
    // With the usual budget a gap after a death may still be open when the trial ends.
    SIMULATOR_CALLS_PER_10MIN: '60000',
    SIMULATOR_EMITTED_LOG: join(dataDir, 'emitted.jsonl'),
    CRAWL_SOURCES: 'post-ids,comment-ids,listings,threads',
    DATABASE_SYNCHRONOUS: '0',
  });
  const cluster: Cluster = { engines, installation, second: new Map(), receiver };
  const course: Course = { minutes: Number(values.minutes), isCalm: values.calm, only: values.only };
  await cleanUpAfter(async () => {
    await start(cluster);
    await run(report, cluster, course);
  }, [
    () => [...cluster.second.values()].map((process) => process.stop()),
    () => [installation.remove()],
    () => [receiver.stop()],
    () => [engines.stop()],
    () => [rm(dataDir, { recursive: true, force: true })],
  ]);
}

/** Starts the installation and the second processes. */
async function start({ installation, second }: Cluster): Promise<void> {
  await installation.start(120_000);
  const { METRICS_PORT: _ours, ...env } = installation.fullEnv;
  for (const service of SECOND_SERVICES) {
    const process = new ServiceProcess(service, env, { ownSession: true });
    process.start();
    second.set(service, process);
  }
}

interface Course {
  minutes: number;
  isCalm: boolean;
  /** Only deaths whose kind has this in its name. */
  only: string;
}

async function run(report: Report, cluster: Cluster, { minutes, isCalm, only }: Course): Promise<void> {
  const { installation, engines, receiver } = cluster;
  const create = ['account', 'create', '--email', 'bench@example.com', '--credits', '10000', '--pack', '79'];
  const { api_key: key, account_id: account } = installation.admin(...create);
  const expected = new ExpectedPairs(installation);
  for (const keyword of KEYWORDS) {
    const body = { name: keyword, keywords: [keyword], nsfw: true, webhook_url: receiver.url };
    const { status, body: answer } = await installation.call(String(key), 'POST', '/v1/monitors', body);
    if (status !== 201) throw new Error(`a monitor was answered ${status}: ${JSON.stringify(answer)}`);
    expected.add((answer as { monitor: { id: string } }).monitor.id, keyword);
  }
  const watching = expected.watch(Date.now());
  const deaths: { kind: string; at: number }[] = [];
  const endsAt = performance.now() + minutes * 60_000;
  await wait(WARM_UP_MS);
  const list = deathsOf(engines, installation, cluster.second).filter(({ kind }) => kind.includes(only));
  for (let turn = 0; performance.now() < endsAt; turn++) {
    if (isCalm) await wait(Math.max(0, endsAt - performance.now()));
    else await die(list[turn % list.length]!, deaths);
  }
  await watching.stop();
  const pool = createPool({ url: engines.env.DATABASE_URL, name: 'bench', logger: silentLogger() });
  try {
    const recorded = await settled(cluster, pool, expected);
    reportLatencies(report, recorded, receiver, deaths);
    const balance = await pool.query<{ differs: string }>(
      `SELECT a.balance - sum(l.amount) AS differs FROM accounts a JOIN ledger_entries l ON l.account_id = a.id
       WHERE a.id = $1 GROUP BY a.balance`,
      [account],
    );
    const own = [...cluster.second]
      .filter(([, { ownEnds }]) => ownEnds > 0)
      .map(([name, { ownEnds }]) => [name, ownEnds]);
    const found = expected.compare(recorded, receiver);
    if (found.lost.length > 0) {
      const from = {
        pool,
        clickhouse: engines.env.CLICKHOUSE_URL,
        log: installation.env.SIMULATOR_EMITTED_LOG!,
        deaths,
      };
      for (const line of await explainLost(found.lost, from)) report(line);
    }
    report({
      ...{ run: 'all together', minutes, items: expected.items, deaths: deaths.length },
      ...found,
      ...{ balance_differs_from_ledger: Number(balance.rows[0]?.differs), own_ends: Object.fromEntries(own) as object },
    });
  } finally {
    await pool.end();
  }
}

async function die(
  { kind, deadMs = BETWEEN_MS / 2, kill, revive }: Death,
  deaths: { kind: string; at: number }[],
): Promise<void> {
  const at = Date.now();
  await kill();
  deaths.push({ kind, at });
  console.error(`${new Date(at).toISOString()} killed: ${kind}`);
  await wait(deadMs);
  await revive();
  await wait(BETWEEN_MS / 2);
}

/** Waits until nothing new is recorded and everything that was expected has arrived, for five minutes at most. */
async function settled(
  { receiver }: Cluster,
  pool: Parameters<typeof readRecorded>[0],
  expected: ExpectedPairs,
): Promise<Recorded[]> {
  let recorded: Recorded[] = [];
  const isSettled = async () => {
    recorded = await readRecorded(pool, expected.monitors());
    const { lost, webhooks_missing } = expected.compare(recorded, receiver);
    return lost.length + webhooks_missing === 0;
  };
  await eventually('everything has arrived', isSettled, 300_000).catch((error: unknown) =>
    console.error(String(error)),
  );
  return recorded;
}

/**
 * From an item's append, in the broker's time, to the request that the receiver got first, and to the record of its
 * match: a monitor gets 1,000 webhooks a day, and later matches are only recorded.
 */
function reportLatencies(
  report: Report,
  recorded: readonly Recorded[],
  { received }: WebhookReceiver,
  deaths: readonly { kind: string; at: number }[],
): void {
  const arrivals = new Map<string, number>();
  for (const { headers, at } of received) {
    const id = String(headers['x-service-delivery']);
    if (!arrivals.has(id)) arrivals.set(id, at);
  }
  const groups = new Map<string, { webhooks: number[]; records: number[] }>();
  for (const { id, enteredAt, recordedAt } of recorded) {
    const death = deaths.findLast(({ at }) => enteredAt >= at - 1_000 && enteredAt < at + AROUND_MS);
    const kind = death?.kind ?? 'no death near';
    const group = groups.get(kind) ?? { webhooks: [], records: [] };
    groups.set(kind, group);
    group.records.push(recordedAt - enteredAt);
    const arrived = arrivals.get(id);
    if (arrived !== undefined) group.webhooks.push(arrived - enteredAt);
  }
  for (const [around, { webhooks, records }] of groups) {
    report({ run: 'append to webhook, ms', around, webhooks: webhooks.length, ...percentiles(webhooks) });
    report({ run: 'append to record, ms', around, matches: records.length, ...percentiles(records) });
  }
}
