import { matchExportQuery } from '../../../../schemas/api/matches/match-export.ts';
import { FILE_EXAMPLES } from '../examples/export-examples.ts';
import { monitorExamples } from '../examples/monitor-examples.ts';
import type { RouteDocument } from '../route-document.ts';

/** The route that writes the matches of a monitor as a file. */
export const exportDocuments: readonly RouteDocument[] = [
  {
    method: 'get',
    path: '/v1/monitors/:id/matches/export',
    operationId: 'exportMatches',
    tag: 'Monitors',
    id: { description: 'Id of a monitor.', example: monitorExamples.id },
    query: matchExportQuery,
    example: { format: 'csv' },
    summary: 'Export the matches of a monitor as one file',
    description:
      'All matches of the last 30 days, or of a time, oldest first, with the fields that pages have; what is recorded after the request is not in it. `csv`: by RFC 4180 with a header; `matched_terms` is a list in JSON, and an apostrophe stands before all that a spreadsheet could take for a formula, also after a `;`, a tab or the end of a line within a text. `ndjson`: one `MonitorMatch` a line. `parquet`: one file with typed columns. The answer is streamed; one that breaks off is incomplete, and its connection ends with an error. Ten exports in 24 hours for an account (then `rate_limited`), one at a time, and a few at a time in all; one that breaks off counts. An export may take 15 minutes, and a client that reads nothing for 30 s is disconnected. Free.',
    answers: [
      {
        status: 200,
        description: 'The file.',
        content: [
          { type: 'text/csv', schema: { type: 'string' }, examples: { csv: FILE_EXAMPLES.csv } },
          { type: 'application/x-ndjson', schema: { type: 'string' }, examples: { ndjson: FILE_EXAMPLES.ndjson } },
          { type: 'application/vnd.apache.parquet', schema: { type: 'string' }, examples: { parquet: 'PAR1' } },
        ],
      },
    ],
    errors: ['not_found', 'service_unavailable'],
  },
];
