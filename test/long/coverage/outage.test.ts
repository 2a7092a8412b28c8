import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Coverage, CoverageGap } from '../../../schemas/api/coverage.ts';
import type { ServiceStatus } from '../../../schemas/api/status.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { readEmitted } from '../../support/clients/emitted-items.ts';
import type { EmittedItem } from '../../support/clients/emitted-items.ts';
import { askClickhouse } from '../../support/clients/clickhouse-request.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { Installation } from '../../support/children/installation.ts';

/** At this rate an outage of six seconds hides more than the thousand comments that the listing shows after it. */
const PER_SECOND = 400;
const OUTAGE_SECONDS = 6;

let installation: Installation;
let log: string;
let key: string;

beforeAll(async () => {
  installation = await Installation.prepare({
    SIMULATOR_RATE: '20',
    SIMULATOR_CALLS_PER_10MIN: '60000',
    SIMULATOR_COMMENT_IDS: 'random',
    SIMULATOR_LATE: '0',
  });
  log = join(installation.dataDir, 'emitted.jsonl');
  installation.env.SIMULATOR_EMITTED_LOG = log;
  await installation.start();
  key = String(installation.admin('account', 'create', '--email', 'coverage@example.com', '--pack', '79').api_key);
});
afterAll(async () => {
  await installation.remove();
});

/** At most once a second: an account's limits apply to free requests too. */
async function coverage(): Promise<Coverage> {
  await wait(1_000);
  const answer = await installation.call(key, 'GET', '/v1/coverage');
  expect(answer.status).toBe(200);
  return answer.body as Coverage;
}

const commentGaps = ({ gaps }: Coverage): CoverageGap[] => gaps.filter(({ source }) => source === 'listings:comments');

/** The names of everything in the archive, and when each was first seen, in milliseconds. */
async function archived(): Promise<Map<string, number>> {
  const body =
    'SELECT thing_id, toUnixTimestamp64Milli(min(first_seen_at)) FROM items GROUP BY thing_id FORMAT TabSeparated';
  const answer = await askClickhouse(installation.endpoints().clickhouse, { method: 'POST', body });
  const lines = (await answer.text()).split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => line.split('\t')).map(([name = '', seen]) => [name, Number(seen)]));
}

async function control(path: string, body: object): Promise<void> {
  const answer = await fetch(`${installation.endpoints().simulator}/simulator/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
}

/** A gap is closed 75 seconds after it was opened at the earliest. */
async function ageOpenGaps(): Promise<void> {
  const pool = createPool({ url: installation.endpoints().postgres, name: 'test', logger: silentLogger() });
  await pool.query(`UPDATE crawl_gaps SET opened_at = opened_at - interval '80 seconds' WHERE filled_at IS NULL`);
  await pool.end();
}

test('after an outage, coverage tells the gap, its closing, and what the log of the forum confirms', async () => {
  await eventually('the crawl is under way', async () => (await archived()).size > 100);
  const expectedSince = Date.now();
  await control('rate', { rate: PER_SECOND });
  await control('faults', { kind: 'outage', seconds: OUTAGE_SECONDS });
  const from = Date.now();
  await wait(OUTAGE_SECONDS * 1_000);
  await control('rate', { rate: 5 });
  const opened = await eventually('the gap is opened', async () => commentGaps(await coverage())[0], 120_000);
  const to = Date.now();
  expect(Date.parse(opened.created_from!)).toBeLessThan(from + 5_000);
  expect(Date.parse(opened.created_to!)).toBeLessThan(to);
  expect(Date.parse(opened.created_to!) - Date.parse(opened.created_from!)).toBeGreaterThan(1_000);

  const until = Date.now();
  // Comments on posts from before the first start are out of reach once they have left the listings.
  const emitted = (): EmittedItem[] => {
    const items = readEmitted(log).filter(({ at }) => at >= expectedSince && at < until);
    const posts = new Set(items.map(({ name }) => name));
    return items.filter(({ kind, link_id: post }) => kind === 'post' || posts.has(post ?? ''));
  };
  const missing = async (): Promise<EmittedItem[]> => {
    const seen = await archived();
    return emitted().filter(({ name, shown }) => shown !== 'nowhere' && !seen.has(name));
  };
  await eventually('everything that the forum shows is archived', async () => (await missing()).length === 0, 120_000);
  const archivedAt = Date.now();
  await ageOpenGaps();
  // Where counting takes long, the current hour is counted every two minutes.
  const answer = await eventually(
    'every gap is closed, and everything archived is counted',
    async () => {
      const latest = await coverage();
      const isCounted = Date.parse(latest.hours.at(-1)?.measured_at ?? '') > archivedAt;
      return isCounted && latest.total.gaps.open === 0 ? latest : undefined;
    },
    240_000,
  );
  for (const gap of commentGaps(answer)) expect(gap.outcome).toBe('filled');

  const seen = await archived();
  const closed = commentGaps(answer).at(-1)!;
  const foundLater = emitted().filter(({ name, kind, at }) => {
    const isInGap = at >= Date.parse(closed.created_from!) && at <= Date.parse(closed.created_to!);
    return kind === 'comment' && isInGap && (seen.get(name) ?? 0) > Date.parse(opened.opened_at);
  });
  expect(foundLater.length).toBeGreaterThan(100);
  expect(closed.found).toBeGreaterThanOrEqual(foundLater.length * 0.98);

  const { posts } = answer.total.completeness;
  expect(posts).toMatchObject({ share: 1, unread: 0 });
  const inLog = emitted().filter(({ kind, shown }) => kind === 'post' && shown !== 'nowhere').length;
  expect(posts?.found).toBeGreaterThanOrEqual(inLog * 0.97);
  expect(answer.total.gaps).toMatchObject({ opened: answer.total.gaps.closed, open: 0 });
  expect(answer.total.budget.by_lane).toHaveProperty('threads');
  const status = (await (await fetch(`${installation.url}/status`)).json()) as ServiceStatus;
  expect(status.parts).toHaveProperty('items');
  expect(answer.total.seen.by_source.threads?.comments).toBeGreaterThanOrEqual(foundLater.length);
}, 600_000);
