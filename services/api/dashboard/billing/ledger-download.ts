import { readLedgerPage } from '../../../../shared/stores/ledger/ledger-pages.ts';
import type { Pool } from '../../../../shared/postgres/pool.ts';
import { csvOf, entryOf } from '../../account/ledger-route.ts';
import { StreamedBody } from '../../http/answer-stream.ts';
import type { AnswerStream } from '../../http/answer-stream.ts';
import type { PageAnswer, Visit } from '../page-route.ts';
import { ledgerFilter } from './ledger-filter.ts';

const ROWS_PER_PIECE = 1_000;
const STALL_MS = 30_000;

/** GET /billing/ledger.csv: every entry that fits the filter, newest first. */
export function downloadLedger(pool: Pool, visit: Visit): PageAnswer {
  const { kinds } = ledgerFilter(visit.query.text('kind'));
  return {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': 'attachment; filename="ledger.csv"',
    },
    body: new StreamedBody(() => Promise.resolve(streamOf(pool, visit.account.id, kinds))),
  };
}

function streamOf(pool: Pool, accountId: string, kinds: readonly string[] | undefined): AnswerStream {
  const ending = new AbortController();
  return {
    async *pieces() {
      let beforeId = Number.MAX_SAFE_INTEGER;
      let header = true;
      while (!ending.signal.aborted) {
        const rows = await readLedgerPage(pool, { accountId, beforeId, limit: ROWS_PER_PIECE, kinds });
        const text = csvOf(rows.map(entryOf), { header });
        if (text !== '') yield text;
        header = false;
        if (rows.length < ROWS_PER_PIECE) return;
        beforeId = rows.at(-1)!.id;
      }
    },
    ended: ending.signal,
    end: () => ending.abort(),
    close: () => Promise.resolve(),
    stallMs: STALL_MS,
  };
}
