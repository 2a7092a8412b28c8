import type { ExportFormat } from '../../../schemas/api/matches/match-export.ts';
import { matchResource } from '../../../shared/domain/match-resource.ts';
import type { StoredMatch } from '../../../shared/domain/match-resource.ts';
import { writeParquet } from '../../../shared/parquet/write-parquet.ts';
import { matchColumns } from './match-columns.ts';
import { CSV_HEADER, csvOfMatches } from './matches-csv.ts';

interface FileFormat {
  type: string;
  /** The file as its pieces, of which a few megabytes are held at a time. */
  pieces: (monitorId: string, batches: AsyncIterable<StoredMatch[]>) => AsyncIterable<string | Uint8Array>;
}

/** A row group takes about as many bytes as its texts have characters. */
const ROW_GROUP = {
  rows: 10_000,
  size: 4_000_000,
  sizeOf: ({ title, body }: StoredMatch) => title.length + body.length + 300,
};

/** How matches are written in each format. */
export const FILE_FORMATS: Readonly<Record<ExportFormat, FileFormat>> = {
  csv: { type: 'text/csv; charset=utf-8', pieces: csvPieces },
  ndjson: { type: 'application/x-ndjson; charset=utf-8', pieces: linePieces },
  parquet: {
    type: 'application/vnd.apache.parquet',
    pieces: (monitorId, batches) => writeParquet(matchColumns(monitorId), batches, ROW_GROUP),
  },
};

async function* csvPieces(monitorId: string, batches: AsyncIterable<StoredMatch[]>): AsyncGenerator<string> {
  yield CSV_HEADER;
  for await (const batch of batches) yield csvOfMatches(monitorId, batch);
}

/** A match per line, as pages have it. */
async function* linePieces(monitorId: string, batches: AsyncIterable<StoredMatch[]>): AsyncGenerator<string> {
  for await (const batch of batches) {
    yield batch.map((match) => `${JSON.stringify(matchResource(monitorId, match))}\n`).join('');
  }
}
