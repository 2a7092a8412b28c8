import { afterAll, beforeAll, expect, test } from 'vitest';
import { returnUrls } from '../../../services/api/dashboard/billing-pages.ts';
import { createStripe } from '../../../shared/billing/stripe.ts';
import { charge } from '../../../shared/billing/ledger.ts';
import { listReceipts } from '../../../shared/billing/payments.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import type { DashboardVisitor } from '../../support/dashboard/dashboard-visitor.ts';
import { startPayments } from '../../support/fakes/running-payments.ts';
import type { RunningPayments } from '../../support/fakes/running-payments.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
let checkout: RunningPayments;

beforeAll(async () => {
  db = await createTestDatabase();
  const port = await freePort();
  checkout = await startPayments(`http://127.0.0.1:${port}/stripe/webhook`);
  api = await startTestApi(db.pool, { port, payments: checkout.payments });
});
afterAll(async () => {
  await Promise.all([checkout.stop(), api.stop()]);
  await db.drop();
});

async function visitor(credits = 10): Promise<TestAccount & { visit: DashboardVisitor }> {
  const account = await api.account({ credits, pack: 0 });
  return { ...account, visit: await visitDashboard(db.pool, api.url, account.accountId) };
}

/** The page's text without markup. */
const textOf = (html: string) =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

test('a pack is bought from the page to the credits, and appears as a receipt and in the ledger', async () => {
  const { accountId, visit } = await visitor();
  const before = await visit.get('/billing');
  expect(before.status).toBe(200);
  expect(textOf(before.html)).toContain('No purchases yet.');
  expect(before.headers.get('content-security-policy')).toContain(`form-action 'self' ${checkout.url};`);

  const led = await visit.post('/billing/buy', { pack: '29' });
  expect(led.status).toBe(303);
  expect(led.location).toMatch(new RegExp(`^${checkout.url}/checkout/cs_test_\\w+$`));
  const cancelled = await checkout.press({ url: led.location! }, 'cancel');
  const back = (url: string) => visit.get(new URL(url).pathname.replace('/dashboard', '') + new URL(url).search);
  expect(textOf((await back(cancelled!)).html)).toContain('You left the checkout. Nothing was charged.');

  const bought = (await checkout.press({ url: led.location! }, 'pay'))!;
  const shown = await eventually('the credits', async () => {
    const page = await back(bought);
    return textOf(page.html).includes('20,000 credits were added.') && page;
  });
  const [receipt] = await listReceipts(db.pool, accountId, 10);
  expect(receipt).toMatchObject({ pack: 29, amount: 2_900, credits: 20_000, status: 'paid', takenBack: 0 });
  expect(textOf(shown.html)).toContain('$29.00 20,000 Paid, without money');
  expect(textOf(shown.html)).toContain(`Pack +20,000 20,010 ${receipt!.id}`);
  expect(textOf(shown.html)).toContain('50 monitors, 10 requests a second');
});

test('pressing buy again and again does not fill the table of payments, nor the provider', async () => {
  const { accountId, visit } = await visitor();
  const statuses = [];
  for (let n = 0; n < 22; n++) statuses.push((await visit.post('/billing/buy', { pack: '9' })).status);
  expect(statuses).toEqual([...Array<number>(20).fill(303), 429, 429]);
  const { rowCount } = await db.pool.query('SELECT FROM payments WHERE account_id = $1', [accountId]);
  expect(rowCount).toBe(20);
});

test('the page after a checkout says what became of it, and only to whom it belongs', async () => {
  const { visit } = await visitor();
  const stranger = await visitor();
  const { location } = await visit.post('/billing/buy', { pack: '9' });
  const { rows } = await db.pool.query<{ id: string }>('SELECT id FROM payments ORDER BY created_at DESC LIMIT 1');
  const { id } = rows[0]!;
  const own = await visit.get(`/billing?bought=${id}`);
  expect(textOf(own.html)).toContain('Your payment is being processed');
  expect(own.html).toContain('data-live="5"');
  expect((await stranger.visit.get(`/billing?bought=${id}`)).html).not.toContain(id);
  await db.pool.query(`UPDATE payments SET status = 'expired' WHERE id = $1`, [id]);
  expect(textOf((await visit.get(`/billing?bought=${id}`)).html)).toContain('did not go through');
  expect(location).toContain('/checkout/');
  const hostile = await visit.get(`/billing?bought=${encodeURIComponent('"><script>alert(1)</script>')}&kind="><b>`);
  expect(hostile.status).toBe(200);
  expect(hostile.html).not.toContain('<script>alert');
});

test('forms without the token, unknown packs and foreign origins begin no checkout', async () => {
  const { accountId, visit } = await visitor();
  for (const pack of ['', '0', '10', '9.0', 'constructor']) {
    expect((await visit.post('/billing/buy', { pack })).status).toBe(400);
  }
  expect((await visit.post('/billing/buy', { pack: '9' }, { origin: 'https://evil.example' })).status).toBe(400);
  const unsigned = await fetch(`${api.url}/dashboard/billing/buy`, {
    method: 'POST',
    headers: { cookie: visit.cookie },
    body: new URLSearchParams({ pack: '9' }),
    redirect: 'manual',
  });
  expect(unsigned.status).toBe(400);
  const { rowCount } = await db.pool.query('SELECT FROM payments WHERE account_id = $1', [accountId]);
  expect(rowCount).toBe(0);
});

test('a checkout that cannot be created says so without a secret, and charges nothing', async () => {
  const settings = { ...checkout.payments.settings, secretKey: 'sk_test_wrong_key' };
  const other = await startTestApi(db.pool, {
    payments: { ...checkout.payments, settings, stripe: createStripe(settings) },
  });
  const { accountId } = await visitor();
  const visit = await visitDashboard(db.pool, other.url, accountId);
  const page = await visit.post('/billing/buy', { pack: '9' });
  expect(page.status).toBe(503);
  expect(textOf(page.html)).toContain('Nothing was charged.');
  expect(page.html).not.toContain('wrong_key');
  await other.stop();
});

test('the ledger is filtered, paged and downloaded as CSV, with formulas as text', async () => {
  const { accountId, visit } = await visitor(100);
  for (let number = 1; number <= 30; number++) {
    await charge(db.pool, { accountId, kind: 'read', credits: 1, reference: `read-${number}` });
  }
  await charge(db.pool, { accountId, kind: 'monitor_create', credits: 10, reference: '=cmd()' });
  const all = await visit.get('/billing');
  expect(all.html).toContain('=cmd()');
  expect(all.html).not.toContain('read-6<');
  const older = /href="([^"]*before=\d+)#ledger"/.exec(all.html)![1]!.replace(/&amp;/g, '&');
  const second = await visit.get(older.replace('/dashboard', ''));
  expect(second.html).toContain('read-6<');
  expect(second.html).toContain('opening');
  expect(second.html).not.toContain('Older entries');
  const packs = await visit.get('/billing?kind=packs');
  expect(packs.html).toContain('opening');
  expect(packs.html).not.toContain('read-1');
  const csv = await visit.get('/billing/ledger.csv');
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="ledger.csv"');
  const lines = csv.html.trimEnd().split('\r\n');
  expect(lines).toHaveLength(1 + 32);
  expect(lines[0]).toBe('id,created_at,kind,amount,balance_after,reference,request_id,route,key_id');
  expect(lines[1]).toContain("'=cmd()");
  expect((await visit.get('/billing/ledger.csv?kind=monitors')).html.trimEnd().split('\r\n')).toHaveLength(2);
  expect((await visit.get('/billing?kind=reading&before=abc')).status).toBe(200);
});

test('all charges of a backfill are one line, wherever the pages of the ledger end', async () => {
  const { accountId, visit } = await visitor(1_000);
  const backfill = (run: string, paid: number, credits: number) =>
    charge(db.pool, { accountId, kind: 'backfill', credits, reference: `${run}:${paid}` });
  const read = (reference: string) => charge(db.pool, { accountId, kind: 'read', credits: 1, reference });
  await backfill('bf_first', 5, 5);
  await backfill('bf_other', 3, 3);
  for (let number = 1; number <= 26; number++) {
    await read(`read-${number}.`);
    await backfill('bf_first', 5 + number, 1);
  }
  await backfill('bf_single', 2, 2);
  const newest = await visit.get('/billing');
  expect(newest.html).not.toContain('bf_first');
  expect(textOf(newest.html)).toContain('Earlier matches -2 938 bf_single:2');
  const older = /href="([^"]*before=\d+)#ledger"/.exec(newest.html)![1]!.replace(/&amp;/g, '&');
  const oldest = await visit.get(older.replace('/dashboard', ''));
  expect(textOf(oldest.html)).toContain('Earlier matches 27 charges');
  expect(textOf(oldest.html)).toContain('-31 940 bf_first');
  expect(textOf(oldest.html)).toContain('bf_other:3');
  const csv = await visit.get('/billing/ledger.csv');
  expect(csv.html.match(/bf_first:/g)).toHaveLength(27);
});

test('a large ledger is downloaded whole', async () => {
  const { accountId, visit } = await visitor(3_000);
  await db.pool.query(
    `INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference)
     SELECT $1, 'read', -1, 3000 - n, 'r' || n FROM generate_series(1, 2500) AS n`,
    [accountId],
  );
  const csv = await visit.get('/billing/ledger.csv');
  const ids = csv.html
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((line) => Number(line.split(',')[0]));
  expect(ids).toHaveLength(2_501);
  expect(new Set(ids).size).toBe(2_501);
});

test.each([
  ['https://app.example.com', 'app.example.com', 'https://app.example.com/dashboard/billing'],
  ['https://app.example.com/x', 'evil.example', 'https://app.example.com/dashboard/billing'],
  ['http://localhost:8080', '127.0.0.1:8080', 'http://127.0.0.1:8080/dashboard/billing'],
  ['http://localhost:8080', '[::1]:8080', 'http://[::1]:8080/dashboard/billing'],
  ['http://localhost:8080', 'localhost.evil.example', 'http://localhost:8080/dashboard/billing'],
  ['http://localhost:8080', '127.0.0.1@evil.example', 'http://localhost:8080/dashboard/billing'],
])('from %s asked as %s a checkout leads back to %s', (dashboardUrl, host, page) => {
  const urls = returnUrls({ host, path: (below) => `/dashboard${below}` }, dashboardUrl)('pay_1');
  expect(urls).toEqual({ bought: `${page}?bought=pay_1`, cancelled: `${page}?cancelled=1` });
});
