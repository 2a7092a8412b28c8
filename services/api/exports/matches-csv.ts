import { stringify } from 'csv-stringify/sync';
import { matchResource } from '../../../shared/domain/match-resource.ts';
import type { StoredMatch } from '../../../shared/domain/match-resource.ts';
import { withoutFormulas } from '../http/csv-formulas.ts';

const COLUMNS = [
  'id',
  'monitor_id',
  'created_at',
  'kind',
  'subreddit',
  'author',
  'title',
  'body',
  'permalink',
  'matched_terms',
  'thing_id',
  'post_id',
  'created_utc',
  'suppressed',
  'suppressed_reason',
  'backfill',
  'delivery_status',
  'delivered_at',
];

/**
 * Matches as CSV by RFC 4180, with the fields of a match as columns. Cells that a spreadsheet would read as a formula
 * are turned into text. `matched_terms` is a list in JSON.
 */
export function csvOfMatches(monitorId: string, matches: readonly StoredMatch[]): string {
  return stringify(
    matches.map((match) => {
      const resource = matchResource(monitorId, match);
      return { ...resource, matched_terms: JSON.stringify(resource.matched_terms), backfill: match.backfill };
    }),
    {
      columns: COLUMNS,
      cast: { boolean: (value: boolean) => String(value), string: withoutFormulas },
      record_delimiter: 'windows',
      // By itself it quotes line ends only as they end records.
      quoted_match: /[\r\n]/,
    },
  );
}

/** The first line. */
export const CSV_HEADER = `${COLUMNS.join(',')}\r\n`;
