import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Usage } from '../../../schemas/api/account.ts';
import { HOSTILE, isEscaped } from '../../support/dashboard/monitor-pages-bench.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import type { DashboardVisitor } from '../../support/dashboard/dashboard-visitor.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

type Person = TestAccount & { visit: DashboardVisitor; keyId: string };

async function newPerson(): Promise<Person> {
  const account = await api.account({ credits: 900, pack: 0 });
  const visit = await visitDashboard(db.pool, api.url, account.accountId);
  return { ...account, visit, keyId: account.apiKey.slice(3, 11) };
}

let charges = 0;

interface SpentCredits {
  daysAgo: number;
  credits: number;
  route?: string | null;
  key?: string | null;
}

async function spend({ accountId }: Person, { daysAgo, credits, route, key }: SpentCredits): Promise<void> {
  await db.pool.query(
    `INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference, created_at, route, key_id)
     VALUES ($1, 'read', -$2::bigint, 100, $3, service_now() - $4::integer * interval '24 hours', $5, $6)`,
    [accountId, credits, `usage-${charges++}`, daysAgo, route, key],
  );
}

/** The cells of each row of a table's body, as numbers where they are. */
function rowsOf(html: string, caption: string): (string | number)[][] {
  const table = new RegExp(`<caption class="hidden">\\s*${caption}\\s*</caption>.*?</table>`, 's').exec(html)![0];
  const body = table.slice(table.indexOf('<tbody>'));
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row!.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) => {
      const text = cell!
        .replace(/<[^>]+>/g, '')
        .replace(/\s+/g, ' ')
        .trim();
      return /^[\d,]+$/.test(text) ? Number(text.replaceAll(',', '')) : text;
    }),
  );
}

const sum = (numbers: readonly unknown[]) => numbers.reduce<number>((total, value) => total + Number(value), 0);

const PERIODS: readonly (readonly [query: string, days: () => number])[] = [
  ['', () => 30],
  ['?period=7', () => 7],
  ['?period=30', () => 30],
  ['?period=month', () => new Date().getUTCDate()],
  [`?period=${encodeURIComponent(HOSTILE)}`, () => 30],
];

test.each(PERIODS)('the page with "%s" has the numbers of the API, of whole days', async (query, daysOf) => {
  const person = await newPerson();
  const { apiKey, keyId: key } = person;
  for (const daysAgo of [0, 1, 6, 7, 29, 30, 40]) {
    await spend(person, { daysAgo, credits: 10 });
    await spend(person, { daysAgo, credits: 3 + daysAgo, route: 'GET /v1/forum/post', key });
    await spend(person, { daysAgo, credits: 2, route: 'POST /v1/sql' });
    await spend(person, { daysAgo, credits: 5, route: 'POST /v1/monitors/{id}/backfill', key });
    await spend(person, { daysAgo, credits: 1, route: 'GET /v1/gone', key: 'oldkey12' });
  }
  const page = await person.visit.get(`/usage${query}`);
  expect(page.status).toBe(200);
  expect(isEscaped(page)).toBe(true);
  const days = daysOf();
  const from = new Date(Date.now() - (days - 1) * 86_400_000).toISOString().slice(0, 10);
  const usage = async (by: string) =>
    (await api.call(apiKey, 'GET', `/v1/account/usage?by=${by}&from=${from}`)).body as unknown as Usage;

  const byDay = await usage('day');
  const shown = rowsOf(page.html, 'Credits used by day');
  expect(shown).toHaveLength(days);
  const spent = shown.map(([, ...values]) => sum(values));
  expect(spent.filter((value) => value > 0)).toEqual(byDay.items.map(({ credits }) => credits));
  expect(sum(spent)).toBe(byDay.total.credits);
  const head = /<caption class="hidden">\s*Credits used by day.*?<\/thead>/s.exec(page.html)![0];
  expect([...head.matchAll(/<th [^>]*>(.*?)<\/th>/gs)].map(([, name]) => name)).toEqual([
    'Day (UTC)',
    'Monitors',
    'Reading',
    'SQL',
    'Earlier matches',
    'Other',
  ]);

  const byRoute = await usage('route');
  const routes = rowsOf(page.html, 'By route');
  expect(routes.map((row) => row.slice(1, 3))).toEqual(byRoute.items.map(({ charges: n, credits }) => [n, credits]));
  expect(routes.map(([name]) => name)).toContain('Get a post with its comments GET /v1/forum/post');
  expect(routes.map(([name]) => name)).toContain('GET /v1/gone');
  const byKey = await usage('key');
  const keys = rowsOf(page.html, 'By key');
  expect(keys.map((row) => row.slice(1, 3))).toEqual(byKey.items.map(({ charges: n, credits }) => [n, credits]));
  expect(keys.map(([name]) => name)).toContain('Revoked key fk_oldkey12…');
  expect(page.html).toContain(`<span class="large">${byDay.total.credits.toLocaleString('en')}</span>`);
});

test('what another account spends is never shown', async () => {
  const person = await newPerson();
  const stranger = await newPerson();
  await spend(stranger, { daysAgo: 0, credits: 777, route: 'GET /v1/secret', key: 'strange1' });
  const own = await person.visit.get('/usage');
  expect(own.html).toContain('No credits were used in these days');
  for (const secret of ['777', '/v1/secret', 'strange1']) expect(own.html).not.toContain(secret);
  expect((await stranger.visit.get('/usage')).html).toContain('777');
});

test('a name of a key that is markup stays text', async () => {
  const person = await newPerson();
  const { body } = await api.call(person.apiKey, 'POST', '/v1/account/keys', { name: HOSTILE, scopes: ['account'] });
  const { id } = body.key as { id: string };
  await spend(person, { daysAgo: 0, credits: 4, key: id });
  await spend(person, { daysAgo: 0, credits: 4, route: HOSTILE, key: HOSTILE });
  const page = await person.visit.get('/usage');
  expect(page.html).toContain(`fk_${id}…`);
  expect(page.html).toContain('&lt;script&gt;alert(1)');
  expect(isEscaped(page)).toBe(true);
});

test('a purchase is shown in the periods that hold its day', async () => {
  const { accountId, visit } = await newPerson();
  await db.pool.query(
    `INSERT INTO payments (id, account_id, pack, amount, currency, credits, mode, status, paid_at)
     VALUES ($1, $2, 29, 2900, 'usd', 20000, 'live', 'paid', service_now() - interval '8 days')`,
    [`pay_usage${accountId}`, accountId],
  );
  expect((await visit.get('/usage?period=30')).html).toContain('1 purchase, $29.00');
  expect((await visit.get('/usage?period=7')).html).toContain('Nothing was bought in these days.');
});
