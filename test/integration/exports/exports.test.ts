import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { blankMatchedItems, recordRemovals } from '../../../shared/crawl/crawl-cursors.ts';
import { candidateOf } from '../../support/fixtures/recorder-fixtures.ts';
import type { CandidateSetup } from '../../support/fixtures/recorder-fixtures.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { withoutFormulas } from '../../../services/api/matches/export-formats.ts';
import { CSV_CELLS } from '../../unit/services/api/http/csv-formulas.cases.ts';
import { csvRecords } from '../../support/oracles/csv-records.ts';

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
let id: string;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});
beforeEach(async () => {
  await db.setShift('0');
  owner = await api.account();
  ({ id } = await api.monitor(owner.apiKey));
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

let things = 0;
const record = (...setups: Partial<CandidateSetup>[]) =>
  recordBatch(
    { pool: db.pool, toleranceMs: 0 },
    setups.map((setup) => candidateOf({ monitorId: id, thingId: `t1_e${things++}`, ...setup })),
  );

const exported = (query: string, key = owner.apiKey, monitor = id): Promise<Reply> =>
  api.call(key, 'GET', `/v1/monitors/${monitor}/matches/export?${query}`);

async function lines(query = ''): Promise<MonitorMatch[]> {
  const { status, text } = await exported(`format=ndjson${query}`);
  expect(status).toBe(200);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as MonitorMatch);
}

/** All matches, as pages have them. */
async function pages(): Promise<MonitorMatch[]> {
  const items: MonitorMatch[] = [];
  for (let after: string | null = ''; after !== null;) {
    const cursor: string = after === '' ? '' : `&after=${after}`;
    const { body } = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/matches?limit=200${cursor}`);
    items.push(...(body.items as MonitorMatch[]));
    after = body.after as string | null;
  }
  return items;
}

const HOSTILE = [
  'a "quoted" text',
  'lines\nof\r\ntext\r',
  'a, b; c',
  '"',
  "'",
  '',
  ' ',
  '咖啡 😀 \u0001\u2028',
  ...CSV_CELLS.map(([text]) => text),
];

test('every match is in the file as pages have it, in order, also beyond a batch', async () => {
  expect([await lines(), csvRecords((await exported('format=csv')).text).length]).toEqual([[], 1]);
  await record(...HOSTILE.map((body) => ({ body, title: body, terms: [body, 'b'], author: 'ana' })));
  await record(...Array.from({ length: 450 }, (_, at) => ({ body: `Body ${at}` })));
  const all = await pages();
  expect(all).toHaveLength(450 + HOSTILE.length);
  expect(await lines()).toEqual(all);
  const { status, headers, text } = await exported('format=csv');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(headers.get('content-disposition')).toBe(`attachment; filename="matches-${id}.csv"`);
  const [names, ...records] = csvRecords(text);
  const cellOf = new Map(CSV_CELLS);
  const safe = (value: string) => cellOf.get(value) ?? value;
  expect(records).toEqual(
    all.map((match) => {
      const { matched_terms: terms, ...fields } = match;
      const cells: Record<string, string | boolean | null | undefined> = {
        suppressed_reason: '',
        backfill: false,
        ...fields,
        matched_terms: withoutFormulas(JSON.stringify(terms)),
      };
      return names!.map((name) => safe(String(cells[name] ?? '')));
    }),
  );
  const members = new Set(all.flatMap((match) => Object.keys(match)));
  expect([...members].filter((name) => !names!.includes(name))).toEqual([]);
  expect((await api.call(owner.apiKey, 'GET', '/v1/account')).body.balance).toBe(990);
});

test('from and to choose by the time of recording', async () => {
  for (const [at, body] of [
    ['0', 'first'],
    ['1 hour', 'second'],
    ['2 hours', 'third'],
  ] as const) {
    await db.setShift(at);
    await record({ body });
  }
  const all = await pages();
  const [from, to] = [all[1]!.created_at, all[2]!.created_at].map(encodeURIComponent);
  const bodies = async (query: string) => (await lines(query)).map(({ body }) => body);
  expect(await bodies(`&from=${from}`)).toEqual(['second', 'third']);
  expect(await bodies(`&to=${from}`)).toEqual(['first']);
  expect(await bodies(`&from=${from}&to=${to}`)).toEqual(['second']);
  expect(await bodies('&from=2090-01-01T00:00:00Z')).toEqual([]);
});

test('suppressed matches are in it, with their reason, and nothing of what was removed', async () => {
  await api.call(owner.apiKey, 'PATCH', `/v1/monitors/${id}`, { thread_once: true });
  await record({ postId: 'p1', thingId: 't1_kept' }, { postId: 'p1', thingId: 't1_gone', body: 'secret' });
  await recordRemovals(db.pool, ['t1_gone'], [new Date().toISOString()]);
  await blankMatchedItems(db.pool, ['t1_gone']);
  expect(await lines()).toMatchObject([
    { thing_id: 't1_kept', suppressed: false },
    { thing_id: 't1_gone', suppressed: true, suppressed_reason: 'thread_once', body: '', author: '[deleted]' },
  ]);
  expect((await exported('format=csv')).text).not.toContain('secret');
});

test('ten exports in 24 hours for an account; refused requests and HEAD do not count', async () => {
  const { id: other } = await api.monitor(owner.apiKey);
  for (let times = 0; times < 4; times++) {
    expect((await api.call(owner.apiKey, 'HEAD', `/v1/monitors/${id}/matches/export?format=csv`)).status).toBe(200);
    expect((await exported('format=no')).status).toBe(400);
    expect((await exported('format=csv', owner.apiKey, 'mon_000000000000')).status).toBe(404);
  }
  for (let times = 0; times < 10; times++) {
    expect((await exported('format=csv', owner.apiKey, times % 2 === 0 ? id : other)).status).toBe(200);
  }
  const refused = await exported('format=ndjson');
  expect([refused.status, refused.body.error]).toMatchObject([429, { code: 'rate_limited', retryable: true }]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(86_000);
  const stranger = await api.account();
  const { id: theirs } = await api.monitor(stranger.apiKey);
  expect((await exported('format=csv', stranger.apiKey, theirs)).status).toBe(200);
  await db.setShift('24 hours 5 seconds');
  expect((await exported('format=csv')).status).toBe(200);
});
