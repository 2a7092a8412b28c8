import { readBackfillCharges, readLedgerLines, readLedgerPage } from '../../../shared/billing/ledger-pages.ts';
import type { StoredLedgerEntry } from '../../../shared/billing/ledger-pages.ts';
import { html } from '../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../shared/http/html.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { csvOf, entryOf } from '../billing/ledger-routes.ts';
import { file, streamed } from './page.ts';
import type { PageRequest, PageResponse } from './page.ts';
import { icon, number, pills, table, time } from './parts.ts';

const ENTRIES_PER_PAGE = 25;
const ENTRY_ID = /^\d{1,15}$/;

const KINDS: Readonly<Record<string, string>> = {
  grant: 'Granted',
  pack: 'Pack',
  refund: 'Taken back',
  correction: 'Correction by the operator',
  reversal: 'Refund of a failed request',
  monitor_create: 'New monitor',
  monitor_resume: 'Resumed monitor',
  monitor_renewal: 'Monitor, 24 hours',
  backfill: 'Earlier matches',
  read: 'Reading',
  sql: 'SQL',
};

/** What the ledger can be narrowed to: the value in the address, its name, and the kinds of entries. */
const FILTERS = [
  { value: '', name: 'Everything', kinds: undefined },
  { value: 'packs', name: 'Packs, grants and refunds', kinds: ['pack', 'grant', 'refund', 'correction'] },
  { value: 'monitors', name: 'Monitors', kinds: ['monitor_create', 'monitor_resume', 'monitor_renewal', 'backfill'] },
  { value: 'reading', name: 'Reading and SQL', kinds: ['read', 'sql', 'reversal'] },
] as const;

/** An unknown value shows everything. */
function ledgerFilter({ query }: PageRequest): (typeof FILTERS)[number] {
  return FILTERS.find(({ value }) => value === query.text('kind')) ?? FILTERS[0];
}

/** A page of the ledger, with one line for all charges of a backfill. */
export interface LedgerLines {
  lines: StoredLedgerEntry[];
  /** The charges of the backfills among the lines, oldest first, by the run's id. */
  charges: ReadonlyMap<string, StoredLedgerEntry[]>;
  hasOlder: boolean;
}

const runOf = ({ reference }: StoredLedgerEntry): string => reference.replace(/:\d+$/, '');

export async function readLedger(pool: Queryable, request: PageRequest): Promise<LedgerLines> {
  const { kinds } = ledgerFilter(request);
  const accountId = request.account.id;
  const before = request.query.text('before');
  const beforeId = ENTRY_ID.test(before) ? Number(before) : Number.MAX_SAFE_INTEGER;
  const found = await readLedgerLines(pool, { accountId, beforeId, limit: ENTRIES_PER_PAGE + 1, kinds });
  const lines = found.slice(0, ENTRIES_PER_PAGE);
  const runIds = lines.filter(({ kind }) => kind === 'backfill').map(runOf);
  const charges = runIds.length === 0 ? [] : await readBackfillCharges(pool, { accountId, runIds });
  return { lines, charges: Map.groupBy(charges, runOf), hasOlder: found.length > lines.length };
}

export function ledgerSection(request: PageRequest, { lines, charges, hasOlder }: LedgerLines): Html {
  const { value } = ledgerFilter(request);
  const page = request.path('/billing');
  const older = hasOlder && `?kind=${value}&before=${lines.at(-1)!.id}#ledger`;
  const rows = lines.map((entry) => {
    const ofRun = entry.kind === 'backfill' ? (charges.get(runOf(entry)) ?? []) : [];
    return ofRun.length > 1 ? runRow(ofRun) : entryRow(entry);
  });
  const links = FILTERS.map((filter) => {
    const query = filter.value === '' ? '' : `?kind=${filter.value}`;
    return [`${page}${query}#ledger`, filter.name, filter.value === value] as const;
  });
  const columns = ['When', 'What', 'Credits', 'Balance', 'Reference'];
  return html`<section>
    <div class="title">
      <h2 id="ledger">All balance changes</h2>
      <div class="actions">
        <a class="button quiet" href="${page}/ledger.csv${value !== '' && `?kind=${value}`}"
          >${icon('arrow-down-tray')} Download as CSV</a
        >
      </div>
    </div>
    ${pills('Show', links)}
    ${lines.length === 0 ? html`<p class="note">Nothing to show.</p>` : table('Balance changes, newest first', columns, rows)}
    ${older !== false && html`<p><a href="${page}${older}">Older entries</a></p>`}
  </section>`;
}

const signed = (amount: number): string => `${amount > 0 ? '+' : ''}${number(amount)}`;

function entryRow({ createdAt, kind, amount, balanceAfter, reference, route }: StoredLedgerEntry): HtmlValue[] {
  return [
    time(createdAt),
    html`${KINDS[kind] ?? kind}${route !== null && html`<br /><code class="note">${route}</code>`}`,
    signed(amount),
    balanceAfter,
    html`<code>${reference}</code>`,
  ];
}

/** One line for the charges of a backfill, which are inside it. It stands where the first charge does. */
function runRow(charges: readonly StoredLedgerEntry[]): HtmlValue[] {
  const [first] = charges;
  const what = html`<details>
    <summary>${KINDS.backfill} <span class="note">${charges.length} charges</span></summary>
    <ul class="charges" tabindex="0" aria-label="Charges">
      ${charges.map(
        ({ createdAt, amount, balanceAfter }) =>
          html`<li>${time(createdAt)}: ${signed(amount)}, balance ${number(balanceAfter)}</li>`,
      )}
    </ul>
  </details>`;
  return [
    time(first!.createdAt),
    what,
    signed(charges.reduce((sum, { amount }) => sum + amount, 0)),
    charges.at(-1)!.balanceAfter,
    html`<code>${runOf(first!)}</code>`,
  ];
}

const ROWS_PER_PIECE = 1_000;
const STALL_MS = 30_000;

export function downloadLedger(pool: Queryable, request: PageRequest): PageResponse {
  const { kinds } = ledgerFilter(request);
  const accountId = request.account.id;
  async function* pieces(): AsyncGenerator<string> {
    let beforeId = Number.MAX_SAFE_INTEGER;
    for (let header = true; ; header = false) {
      const rows = await readLedgerPage(pool, { accountId, beforeId, limit: ROWS_PER_PIECE, kinds });
      const text = csvOf(rows.map(entryOf), { header });
      if (text !== '') yield text;
      if (rows.length < ROWS_PER_PIECE) return;
      beforeId = rows.at(-1)!.id;
    }
  }
  return file('text/csv; charset=utf-8', 'ledger.csv', streamed(pieces, STALL_MS));
}
