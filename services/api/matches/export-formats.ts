import { stringify } from 'csv-stringify/sync';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ExportFormat } from '../../../schemas/api/matches.ts';
import { matchResource } from '../../../shared/matches/rules/match-resource.ts';
import type { StoredMatch } from '../../../shared/matches/rules/match-resource.ts';

/**
 * Where a spreadsheet could begin a formula: at the start of a cell, and after a character that ends a cell in some
 * settings. Where lists are separated by `;`, a cell `a;=1` is two, whatever commas and quotes stand around it; quotes
 * and blanks in between are skipped. What matches has no quote of SQL: DuckDB reads the same pattern.
 */
const FORMULA = /(^|[;\t\r\n])([" ]*[=+@＝＋－＠-])/g;

/** A text as a cell of CSV: an apostrophe stands before all that a spreadsheet could take for a formula. */
export function withoutFormulas(text: string): string {
  return text.replace(FORMULA, "$1'$2");
}

/** The same as an expression of DuckDB. */
export function withoutFormulasInSql(text: string): string {
  return `regexp_replace(${text}, '${FORMULA.source}', '\\1''\\2', 'g')`;
}

interface FileFormat {
  type: string;
  /** The file as its pieces, of which a few megabytes are held at a time. */
  pieces: (monitorId: string, batches: AsyncIterable<readonly StoredMatch[]>) => AsyncIterable<string | Uint8Array>;
}

export const FILE_FORMATS: Readonly<Record<ExportFormat, FileFormat>> = {
  csv: { type: 'text/csv; charset=utf-8', pieces: csvPieces },
  ndjson: { type: 'application/x-ndjson; charset=utf-8', pieces: linePieces },
  parquet: { type: 'application/vnd.apache.parquet', pieces: parquetPieces },
};

/** The columns of CSV and Parquet, with their types in Parquet. Times are to the millisecond, in UTC. */
const COLUMNS = {
  id: 'text',
  monitor_id: 'text',
  created_at: 'time',
  kind: 'text',
  subreddit: 'text',
  author: 'text',
  title: 'text',
  body: 'text',
  permalink: 'text',
  matched_terms: 'texts',
  thing_id: 'text',
  post_id: 'text',
  created_utc: 'time',
  suppressed: 'boolean',
  suppressed_reason: 'optional text',
  backfill: 'boolean',
  delivery_status: 'text',
  delivered_at: 'optional time',
} as const;
type Column = keyof typeof COLUMNS;
const NAMES = Object.keys(COLUMNS) as Column[];

/** By RFC 4180. Formulas of spreadsheets are turned into text; `matched_terms` is a list in JSON. */
async function* csvPieces(monitorId: string, batches: AsyncIterable<readonly StoredMatch[]>): AsyncGenerator<string> {
  yield `${NAMES.join(',')}\r\n`;
  for await (const batch of batches) {
    const records = batch.map((match) => {
      const resource = matchResource(monitorId, match);
      return { ...resource, matched_terms: JSON.stringify(resource.matched_terms), backfill: match.backfill };
    });
    yield stringify(records, {
      columns: NAMES,
      cast: { boolean: (value: boolean) => String(value), string: withoutFormulas },
      record_delimiter: 'windows',
      // By default it quotes only line ends that end records.
      quoted_match: /[\r\n]/,
    });
  }
}

async function* linePieces(monitorId: string, batches: AsyncIterable<readonly StoredMatch[]>): AsyncGenerator<string> {
  for await (const batch of batches) {
    yield batch.map((match) => `${JSON.stringify(matchResource(monitorId, match))}\n`).join('');
  }
}

/** A row group is written, in one go, when it has so many rows or characters. */
const GROUP_ROWS = 5_000;
const GROUP_CHARACTERS = 1_000_000;

const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;
const TIME = { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' } as const;
type SchemaElement = ParquetWriter['schema'][number];
const SCHEMA: SchemaElement[] = [
  { name: 'schema', num_children: NAMES.length },
  ...NAMES.flatMap((name): SchemaElement[] => {
    const type = COLUMNS[name];
    const field = { name, repetition_type: type.startsWith('optional') ? 'OPTIONAL' : 'REQUIRED' } as const;
    if (type === 'boolean') return [{ ...field, type: 'BOOLEAN' }];
    if (type !== 'texts') return [{ ...field, ...(type.endsWith('text') ? TEXT : TIME) }];
    return [
      { ...field, converted_type: 'LIST', num_children: 1 },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      { name: 'element', repetition_type: 'REQUIRED', ...TEXT },
    ];
  }),
];

/** Takes the memory of a row group, and a kilobyte or two for each group before, which the file's end describes. */
async function* parquetPieces(
  monitorId: string,
  batches: AsyncIterable<readonly StoredMatch[]>,
): AsyncGenerator<Uint8Array> {
  const writer = new ByteWriter();
  const file = new ParquetWriter({ writer, schema: SCHEMA });
  let group: StoredMatch[] = [];
  let characters = 0;
  const written = (): Uint8Array => {
    const bytes = writer.getBytes().slice();
    writer.index = 0;
    return bytes;
  };
  const writeGroup = (): Uint8Array => {
    const resources = group.map((match) => ({ ...matchResource(monitorId, match), backfill: match.backfill }));
    const columnData = NAMES.map((name) => ({
      name,
      data: resources.map(({ [name]: value = null }) =>
        COLUMNS[name].endsWith('time') && value !== null ? new Date(value as string) : value,
      ),
    }));
    void file.write({ columnData, rowGroupSize: GROUP_ROWS * 2 });
    group = [];
    characters = 0;
    return written();
  };
  for await (const batch of batches) {
    group.push(...batch);
    characters += batch.reduce((sum, { title, body }) => sum + title.length + body.length, 0);
    if (group.length >= GROUP_ROWS || characters >= GROUP_CHARACTERS) yield writeGroup();
  }
  if (group.length > 0) yield writeGroup();
  void file.finish();
  yield written();
}
