import { planOf } from '../../../../shared/domain/accounts/plans.ts';
import { findAccount } from '../../../../shared/stores/accounts/accounts.ts';
import type { StoredAccount } from '../../../../shared/stores/accounts/accounts.ts';
import { readLedgerPage } from '../../../../shared/stores/ledger/ledger-pages.ts';
import { findPayment } from '../../../../shared/stores/payments/payments.ts';
import { listReceipts } from '../../../../shared/stores/payments/receipts.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageRoute, ShownPage, Visit } from '../page-route.ts';
import { buyPack } from './buy-pack.ts';
import { downloadLedger } from './ledger-download.ts';
import { ledgerFilter } from './ledger-filter.ts';
import { ledgerSection } from './ledger-section.ts';
import type { LedgerView } from './ledger-section.ts';
import { packsSection } from './packs-section.ts';
import { purchaseNotice } from './purchase-notice.ts';
import { receiptsSection } from './receipts-section.ts';

const ENTRIES_PER_PAGE = 25;
const MOST_RECEIPTS = 100;
const ENTRY_ID = /^\d{1,15}$/;
const PAYMENT_ID = /^pay_[0-9a-z]{20}$/;
/** Seconds between updates: soon after a purchase, at leisure otherwise. */
const UPDATE_S = { pending: 5, usual: 30 };

/** Credits: what there is, packs to buy, receipts, and every change of the balance. */
export function billingPages(deps: DashboardDeps): PageRoute[] {
  return [
    { method: 'get', path: '/billing', handle: (visit) => show(deps, visit) },
    { method: 'post', path: '/billing/buy', handle: (visit) => buyPack(deps, visit) },
    {
      method: 'get',
      path: '/billing/ledger.csv',
      handle: (visit) => Promise.resolve(downloadLedger(deps.pool, visit)),
    },
  ];
}

async function show({ pool, payments }: DashboardDeps, visit: Visit): Promise<ShownPage> {
  const { query } = visit;
  const { id } = visit.account;
  const bought = query.text('bought');
  const payment = PAYMENT_ID.test(bought) ? await findPayment(pool, bought) : undefined;
  const own = payment?.accountId === id ? payment : undefined;
  // Read after the payment: a page that says that credits were added also shows them.
  const [account = visit.account, receipts, ledger] = await Promise.all([
    findAccount(pool, id),
    listReceipts(pool, id, MOST_RECEIPTS),
    readLedger(pool, visit),
  ]);
  const seconds = own?.status === 'started' ? UPDATE_S.pending : UPDATE_S.usual;
  return {
    title: 'Billing',
    content: html`<section id="balance" data-live="${seconds}">
        ${purchaseNotice(own, query.has('cancelled'))} ${figures(account)}
      </section>
      ${packsSection(visit, payments?.settings)}
      <div id="changes" data-live="${seconds}">${receiptsSection(receipts)} ${ledgerSection(visit, ledger)}</div>`,
  };
}

async function readLedger(pool: DashboardDeps['pool'], { account, query }: Visit): Promise<LedgerView> {
  const { value: filter, kinds } = ledgerFilter(query.text('kind'));
  const before = query.text('before');
  const rows = await readLedgerPage(pool, {
    accountId: account.id,
    beforeId: ENTRY_ID.test(before) ? Number(before) : Number.MAX_SAFE_INTEGER,
    limit: ENTRIES_PER_PAGE + 1,
    kinds,
  });
  const entries = rows.slice(0, ENTRIES_PER_PAGE);
  return { entries, filter, next: rows.length > ENTRIES_PER_PAGE ? entries.at(-1)!.id : undefined };
}

function figures({ balance, owed, pack }: StoredAccount): Html {
  const { monitors, requestsPerSecond, dailyMatchCap } = planOf(pack);
  return html`<dl class="figures">
    <div>
      <dt>Credits</dt>
      <dd>
        <span class="large">${balance.toLocaleString('en')}</span>
        ${
          owed > 0 &&
          html`<span class="note"
            >${owed.toLocaleString('en')} spent ones are owed, and paid by the next purchase</span
          >`
        }
      </dd>
    </div>
    <div>
      <dt>Largest pack</dt>
      <dd>
        <span class="large">${pack === 0 ? 'none' : `$${pack}`}</span>
        <span class="note">
          ${monitors} ${monitors === 1 ? 'monitor' : 'monitors'}, ${requestsPerSecond}
          ${requestsPerSecond === 1 ? 'request' : 'requests'} a second, ${dailyMatchCap.toLocaleString('en')} matches a
          monitor and day
        </span>
      </dd>
    </div>
  </dl>`;
}
