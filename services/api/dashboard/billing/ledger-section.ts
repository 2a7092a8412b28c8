import type { StoredLedgerEntry } from '../../../../shared/stores/ledger/ledger-pages.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';
import type { Visit } from '../page-route.ts';
import { select } from '../parts/field.ts';
import { time } from '../parts/time.ts';
import { LEDGER_FILTERS } from './ledger-filter.ts';

export interface LedgerView {
  entries: readonly StoredLedgerEntry[];
  /** The value of the filter. */
  filter: string;
  /** The entry that the next page follows; undefined on the last page. */
  next: number | undefined;
}

const KINDS: Readonly<Record<string, string>> = {
  grant: 'Granted',
  pack: 'Pack',
  refund: 'Taken back',
  correction: 'Correction by the operator',
  reversal: 'Given back, not answered',
  monitor_create: 'New monitor',
  monitor_resume: 'Resumed monitor',
  monitor_renewal: 'Monitor, a day',
  backfill: 'Earlier matches',
  read: 'Reading',
  sql: 'SQL',
};

/** Every change of the balance: filter, table, older entries, and all of it as CSV. */
export function ledgerSection(visit: Visit, { entries, filter, next }: LedgerView): Html {
  const query = filter === '' ? '' : `?kind=${filter}`;
  const older = next !== undefined && `${visit.path('/billing')}?kind=${filter}&before=${next}#ledger`;
  return html`<section>
    <h2 id="ledger">Every change of the balance</h2>
    <form method="get" action="${visit.path('/billing')}" class="actions">
      ${select({
        name: 'kind',
        label: 'Show',
        value: filter,
        options: LEDGER_FILTERS.map(({ value, name }) => [value, name] as const),
      })}
      <button class="quiet">Filter</button>
      <a class="button quiet" href="${visit.path('/billing/ledger.csv')}${query}">Download as CSV</a>
    </form>
    ${entries.length === 0 ? html`<p>There is nothing to show.</p>` : ledgerTable(entries)}
    ${older !== false && html`<p><a href="${older}">Older entries</a></p>`}
  </section>`;
}

function ledgerTable(entries: readonly StoredLedgerEntry[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-labelledby="ledger">
    <table>
      <caption class="hidden">
        Changes of the balance, newest first
      </caption>
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">What</th>
          <th scope="col" class="number">Credits</th>
          <th scope="col" class="number">Balance</th>
          <th scope="col">Reference</th>
        </tr>
      </thead>
      <tbody>
        ${entries.map(
          ({ createdAt, kind, amount, balanceAfter, reference, route }) =>
            html`<tr>
              <td>${time(createdAt)}</td>
              <td>${KINDS[kind] ?? kind}${route !== null && html`<br /><code class="note">${route}</code>`}</td>
              <td class="number">${amount > 0 && '+'}${amount.toLocaleString('en')}</td>
              <td class="number">${balanceAfter.toLocaleString('en')}</td>
              <td><code>${reference}</code></td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
