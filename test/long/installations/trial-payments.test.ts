import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { findAccount } from '../../../shared/stores/accounts/accounts.ts';
import { findLedgerMismatches } from '../../../shared/stores/ledger/ledger-check.ts';
import { Installation } from '../../support/children/installation.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

let installation: Installation;
let pool: Pool;

beforeAll(async () => {
  installation = await Installation.prepare();
  await installation.start();
  pool = connect();
}, 120_000);
afterAll(async () => {
  await pool.end();
  await installation.remove();
}, 60_000);

function connect(): Pool {
  return createPool({ url: installation.endpoints().postgres, name: 'test', logger: silentLogger() });
}

const postForm = (url: string) => fetch(url, { method: 'POST', redirect: 'manual' });

test('packs are bought with trial money on a fresh clone, and taken back once when a key of Stripe comes', async () => {
  const created = installation.admin('account', 'create', '--email', 'trial@example.com', '--credits', '10');
  const accountId = String(created.account_id);
  const visit = await visitDashboard(pool, installation.url, accountId);
  const account = () => findAccount(pool, accountId);

  expect((await visit.get('/billing')).html).toContain('Trial without money');
  const led = await visit.post('/billing/buy', { pack: '9' }, { origin: installation.url });
  expect(led.location).toContain(`${installation.endpoints().simulator}/checkout/cs_test_`);
  const paid = await postForm(`${led.location!}/pay`);
  expect(paid.headers.get('location')).toMatch(
    new RegExp(`^${installation.url}/dashboard/billing\\?bought=pay_[0-9a-z]{20}$`),
  );
  await eventually('the credits', async () => (await account())?.balance === 5_010);
  expect(await account()).toMatchObject({ pack: 9, owed: 0 });

  await pool.end();
  expect(await installation.stop()).toBe(0);
  Object.assign(installation.env, {
    STRIPE_SECRET_KEY: 'sk_test_of_a_shop',
    STRIPE_WEBHOOK_SECRET: 'whsec_of_a_shop',
    // No test may call the real one.
    STRIPE_API_URL: 'http://127.0.0.1:9',
  });
  await installation.start();
  pool = connect();
  await eventually('the credits are taken back', async () => (await account())?.balance === 10);
  expect(await account()).toMatchObject({ pack: 0, owed: 0 });
  expect(installation.output).toContain('a purchase without money was taken back');
  expect(installation.output).not.toContain('of_a_shop');
  expect((await findLedgerMismatches(pool, '', 100)).mismatches).toEqual([]);
  const { rows } = await pool.query('SELECT status, mode FROM payments');
  expect(rows).toEqual([{ status: 'voided', mode: 'trial' }]);
  // The simulator does not sell beside a key.
  expect((await fetch(`${installation.endpoints().simulator}/v1/checkout/sessions`)).status).not.toBe(200);
  expect((await fetch(led.location!)).status).not.toBe(200);
}, 180_000);
