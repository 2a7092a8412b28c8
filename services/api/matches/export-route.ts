import type { z } from 'zod';
import { matchExportQuery } from '../../../schemas/api/matches.ts';
import type { ExportFormat } from '../../../schemas/api/matches.ts';
import { monitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { takeUse } from '../../../shared/accounts/sliding-log-limits.ts';
import { readLiveTailPage } from '../../../shared/matches/live-tails.ts';
import type { LiveTailHolder } from '../../../shared/matches/live-tails.ts';
import { readSeqRange } from '../../../shared/matches/match-pages.ts';
import type { SeqRange } from '../../../shared/matches/match-pages.ts';
import type { StoredMatch } from '../../../shared/matches/rules/match-resource.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { Caller } from '../admission/caller.ts';
import { AccountSlots } from '../http/account-slots.ts';
import { ApiError, ClientDisconnected, invalidRequest } from '../http/api-error.ts';
import { StreamedBody, streamOf } from '../http/response-stream.ts';
import type { ResponseStream } from '../http/response-stream.ts';
import { route } from '../http/route.ts';
import type { Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { findMonitor, MONITOR_ID } from '../monitors/find-monitor.ts';
import { exampleOf } from '../openapi/json-schemas.ts';
import { FILE_FORMATS } from './export-formats.ts';

/** Of an account, in any 24 hours. */
const EXPORTS = { maxUses: 10, seconds: 86_400 };

/** Exports that this process writes at once. Each holds up to about 30 MB. */
const SLOTS = {
  atOnce: 4,
  busy: 'Another export is already running for this account. Wait for it to finish.',
  full: 'Too many exports are running. Try again shortly.',
  retryAfter: 15,
};

export interface ExportTiming {
  /** A client that takes nothing for so long is disconnected. */
  stallMs: number;
  /** A client that has not taken everything by then is disconnected. */
  deadlineMs: number;
}

const TIMING: ExportTiming = { stallMs: 30_000, deadlineMs: 900_000 };

interface ExportDeps {
  pool: Pool;
  /** Default: those of the service. */
  exportTiming?: ExportTiming;
}

interface Export {
  accountId: string;
  holder: LiveTailHolder;
  monitorId: string;
  format: ExportFormat;
  from: Date | undefined;
  to: Date | undefined;
}

/**
 * GET /v1/monitors/{id}/matches/export: the matches of a monitor as one file, oldest first. Those that are recorded
 * after the request are not in it. It is read in short statements, as the client takes it; a file that breaks off ends
 * without the end that HTTP and Parquet require, so it is never taken for a complete one.
 */
export function exportRoute({ pool, exportTiming = TIMING }: ExportDeps): Route {
  const slots = new AccountSlots(SLOTS);
  const match = exampleOf(monitorMatch);
  return route({
    method: 'get',
    path: '/v1/monitors/:id/matches/export',
    scope: 'monitors:read',
    operationId: 'exportMatches',
    tag: 'Monitors',
    summary: 'Export the matches of a monitor as one file',
    description:
      'All matches of the last 30 days, or of a time range, oldest first, with the same fields as in pages. Matches recorded after the request are not included. `csv`: RFC 4180 with a header row; `matched_terms` is a JSON list, and an apostrophe precedes anything that a spreadsheet could take for a formula, also after a `;`, a tab or a line break within a text. `ndjson`: one `MonitorMatch` per line. `parquet`: one file with typed columns. The response is streamed; if it breaks off, it is incomplete, and the connection ends with an error. Limits: ten exports in 24 hours per account (then `rate_limited`), one at a time per account, and a few at a time overall; an export that breaks off counts. An export may take 15 minutes; a client that reads nothing for 30 s is disconnected. Free.',
    params: { id: MONITOR_ID },
    query: matchExportQuery,
    example: { format: 'csv' },
    responses: [
      {
        status: 200,
        description: 'The file.',
        content: [
          {
            type: 'text/csv',
            schema: { type: 'string' },
            examples: { csv: `id,kind\r\n${match.id},${match.kind}\r\n` },
          },
          {
            type: 'application/x-ndjson',
            schema: { type: 'string' },
            examples: { ndjson: `${JSON.stringify(match)}\n` },
          },
          { type: 'application/vnd.apache.parquet', schema: { type: 'string' }, examples: { parquet: 'PAR1' } },
        ],
      },
    ],
    errors: ['service_unavailable'],
    handle: (request) => exportMatches({ pool, slots, timing: exportTiming }, request),
  });
}

interface Exporting {
  pool: Pool;
  slots: AccountSlots;
  timing: ExportTiming;
}

async function exportMatches(
  exporting: Exporting,
  { caller, id, query }: RouteRequest<z.output<typeof matchExportQuery>>,
): Promise<RouteResponse> {
  const { format, ...times } = query;
  const [from, to] = [times.from, times.to].map((time) => (time === undefined ? undefined : new Date(time)));
  if (from !== undefined && to !== undefined && from >= to) {
    throw invalidRequest([{ field: 'from', message: 'must be before `to`' }]);
  }
  await findMonitor(exporting.pool, caller.accountId, id);
  const wanted = { accountId: caller.accountId, holder: holderOf(caller), monitorId: id, format, from, to };
  return {
    status: 200,
    headers: {
      'Content-Type': FILE_FORMATS[format].type,
      'Content-Disposition': `attachment; filename="matches-${id}.${format}"`,
      'Cache-Control': 'no-store',
    },
    body: new StreamedBody(() => openExport(exporting, wanted)),
  };
}

/** The key or session whose end ends the export. */
function holderOf({ keyId, sessionId }: Caller): LiveTailHolder {
  if (keyId !== undefined) return { kind: 'key', id: keyId };
  if (sessionId !== undefined) return { kind: 'session', id: sessionId };
  throw new Error('an export was requested without a key or a session');
}

/** @throws ApiError rate_limited, service_unavailable */
async function openExport({ pool, slots, timing }: Exporting, wanted: Export): Promise<ResponseStream> {
  const release = slots.take(wanted.accountId);
  try {
    const retryAfter = await takeUse(pool, { name: `export:${wanted.accountId}`, ...EXPORTS });
    if (retryAfter > 0) {
      const message = `Matches can be exported ${EXPORTS.maxUses} times in 24 hours. Try again later.`;
      throw new ApiError('rate_limited', message, { retryAfter });
    }
    const range = await readSeqRange(pool, wanted.monitorId, { since: wanted.from, until: wanted.to });
    const batches = readMatchesOf(pool, wanted, range);
    return streamOf(() => FILE_FORMATS[wanted.format].pieces(wanted.monitorId, batches), { ...timing, release });
  } catch (error) {
    release();
    throw error;
  }
}

/** Matches per statement. A body has at most 40,000 characters, so the largest batch is about 10 MB. */
const BATCH = 200;

/**
 * The stored matches of a range, in the order of their seqs, in short statements as the client reads. Each statement
 * checks that the holder still has access.
 *
 * @throws ClientDisconnected when it has none any more
 */
async function* readMatchesOf(
  pool: Pool,
  { holder, monitorId }: Export,
  range: SeqRange | undefined,
): AsyncGenerator<StoredMatch[]> {
  if (range === undefined) return;
  let last = range.first - 1;
  while (last < range.end - 1) {
    const page = await readLiveTailPage(pool, { holder, monitorId, afterSeq: last, limit: BATCH });
    if (page.end !== undefined) throw new ClientDisconnected();
    const found = page.matches;
    const within = found.filter(({ seq }) => seq < range.end);
    if (within.length > 0) yield within;
    if (found.length < BATCH) return;
    last = found.at(-1)!.seq;
  }
}
