import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const READ = `
  import { query } from 'chdb';
  for (const file of process.argv.slice(1)) {
    const rows = query("SELECT * FROM file('" + file + "', Parquet)", 'JSONCompactEachRow').trimEnd();
    console.log(JSON.stringify(rows === '' ? [] : rows.split('\\n').map((row) => JSON.parse(row))));
  }`;

/** The rows that ClickHouse reads from each file, as lists in the order of the columns. Their order is not kept. */
export function readParquetFiles(files: readonly Uint8Array[]): unknown[][][] {
  const folder = mkdtempSync(join(tmpdir(), 'parquet-'));
  try {
    const paths = files.map((file, index) => {
      const path = join(folder, `${index}.parquet`);
      writeFileSync(path, file);
      return path;
    });
    const args = ['--input-type=module', '--eval', READ, '--', ...paths];
    const output = execFileSync(process.execPath, args, { cwd: import.meta.dirname, maxBuffer: 1_000_000_000 });
    return output
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown[][]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
