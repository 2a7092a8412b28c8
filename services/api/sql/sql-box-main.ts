/**
 * The process of one statement: it has the rows of one account as Parquet files in its working directory, and nothing
 * else. DuckDB reads only these files and writes only `result`; the parent watches its memory, its time and the size of
 * the result, and ends it.
 */
import { openSync, writeSync } from 'node:fs';
import { DuckDBInstance, StatementType } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBResult } from '@duckdb/node-api';
import { SQL_TABLES } from '../../../shared/accounts/statement-rows.ts';
import { withoutFormulas, withoutFormulasInSql } from '../matches/export-formats.ts';
import { RESULT, SQL_LIMITS } from './sql-box.ts';
import type { BoxAnswer, BoxJob, SqlColumn } from './sql-box.ts';

const SETTINGS = {
  threads: '2',
  memory_limit: `${SQL_LIMITS.memoryMb}MB`,
  temp_directory: '',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  allow_persistent_secrets: 'false',
  extension_directory: 'none',
  home_directory: 'none',
  secret_directory: 'none',
};

/** A field without a name, or with one that JavaScript's objects do not hold: as JSON its value would be lost. */
const LOST_FIELD = /STRUCT\((?:.*, )?"(?:|__proto__)" /;
/** Limits of a result's columns, and of their names and types together: they are sent in one piece, unlike rows. */
const MAX_COLUMNS = 1_000;
const MAX_COLUMN_CHARACTERS = 100_000;
const INTEGER = /^U?(?:BIGINT|HUGEINT)$/;
/** The dashboard reads the first rows without yielding to other requests. */
const MAX_ROW_BYTES = 2 ** 20;
/** An error of DuckDB may quote a value of any length. */
const MAX_MESSAGE_CHARACTERS = 500;
const ONE_STATEMENT = 'must be one statement';
/** What DuckDB's package says of a text without a statement. */
const NO_STATEMENT = 'Error in native callback';

/** Its message tells the author what is wrong with the statement. */
class Refused extends Error {}

/** The box itself cannot be started. */
class Broken extends Error {}

// Without the parent nobody would end a statement.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.once('message', (job: BoxJob) => {
  void answer(job)
    .catch(refusalOf)
    .then((outcome) => process.send!(outcome, () => process.exit(0)));
});

function refusalOf(error: unknown): BoxAnswer {
  const message = (error as Error).message.slice(0, MAX_MESSAGE_CHARACTERS).replace(/\s+/g, ' ').trim();
  if (error instanceof Broken) return { broken: message };
  if (error instanceof Refused) return { refusal: message };
  return { refusal: message === NO_STATEMENT ? ONE_STATEMENT : `cannot be run: ${message}` };
}

async function answer({ query, format }: BoxJob): Promise<BoxAnswer> {
  const { instance, connection, rowsRead } = await openBox().catch((error: unknown) => {
    throw new Broken((error as Error).message);
  });
  const statements = await connection.extractStatements(query);
  if (statements.count !== 1) throw new Refused(ONE_STATEMENT);
  const prepared = await statements.prepare(0);
  // Not even EXPLAIN: with ANALYZE it runs whatever it explains.
  if (prepared.statementType !== StatementType.SELECT) throw new Refused('must be a SELECT');
  const result = await prepared.stream();
  const columns = columnsOf(result);
  if (format === 'json') await writeJson(result, columns);
  // A second connection: another statement on this one would discard the result that is being read.
  else await writeFile(await instance.connect(), result, columns, format);
  return { columns, rowsRead };
}

/** Creates a view for each file, then blocks access to everything else. */
async function openBox(): Promise<{ instance: DuckDBInstance; connection: DuckDBConnection; rowsRead: number }> {
  const instance = await DuckDBInstance.create(':memory:', SETTINGS);
  const connection = await instance.connect();
  let rowsRead = 0;
  for (const { name: table } of SQL_TABLES) {
    await connection.run(`CREATE VIEW ${table} AS SELECT * FROM read_parquet('${table}.parquet')`);
    const [[count]] = (await (await connection.run(`SELECT count(*) FROM ${table}`)).getRows()) as [[bigint]];
    rowsRead += Number(count);
  }
  const files = [...SQL_TABLES.map(({ name }) => `${name}.parquet`), RESULT];
  await connection.run(`SET allowed_paths = [${files.map((file) => `'${file}'`).join(', ')}]`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
  return { instance, connection, rowsRead };
}

/** One array a line. Integers that a number cannot hold exactly are strings, as DuckDB's package returns them. */
async function writeJson(result: DuckDBResult, columns: readonly SqlColumn[]): Promise<void> {
  const file = openSync(RESULT, 'wx', 0o600);
  const integers = columns.flatMap(({ type }, column) => (INTEGER.test(type) ? [column] : []));
  let count = 0;
  for await (const rows of result.yieldRowsJson()) {
    const lines = rows.map((row) => {
      for (const column of integers) {
        const number = typeof row[column] === 'string' ? Number(row[column]) : Number.NaN;
        if (Number.isSafeInteger(number)) row[column] = number;
      }
      const line = JSON.stringify(row);
      if (Buffer.byteLength(line) > MAX_ROW_BYTES) {
        throw new Refused('has a row of more than 1 MB as JSON; use the format csv or parquet');
      }
      return `${count++ === 0 ? '' : ','}\n${line}`;
    });
    refuseBeyond(count);
    writeSync(file, lines.join(''));
  }
}

/** The columns of a result, with names that differ in more than case. */
function columnsOf(result: DuckDBResult): SqlColumn[] {
  const names = result.columnNames();
  const types = result.columnTypes().map(String);
  const characters = [...names, ...types].reduce((sum, text) => sum + text.length, 0);
  if (names.length > MAX_COLUMNS || characters > MAX_COLUMN_CHARACTERS) {
    throw new Refused(`has more than ${MAX_COLUMNS} columns, or too long names and types`);
  }
  if (types.some((type) => LOST_FIELD.test(type))) {
    throw new Refused('has a struct with a field without a name: write {name: value}, or cast it to VARCHAR');
  }
  const taken = new Set<string>();
  return names.map((name, column) => {
    let free = name;
    for (let next = 1; taken.has(free.toLowerCase()); next++) free = `${name}_${next}`;
    taken.add(free.toLowerCase());
    return { name: free, type: types[column]! };
  });
}

/** DuckDB writes tables only, so the rows become one. */
async function writeFile(
  connection: DuckDBConnection,
  result: DuckDBResult,
  columns: readonly SqlColumn[],
  format: 'csv' | 'parquet',
): Promise<void> {
  const declared = columns.map(({ type }, column) => `c${column} ${type}`);
  await connection.run(`CREATE TEMP TABLE result_rows (${declared.join(', ')})`).catch(() => {
    throw new Refused(`has a type that ${format} does not support; use the format json, or cast it`);
  });
  const appender = await connection.createAppender('result_rows', undefined, 'temp');
  let count = 0;
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    count += chunk.rowCount;
    refuseBeyond(count);
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
  const selected = columns.map(({ name, type }, column) =>
    format === 'csv'
      ? `${inCsv(`c${column}`, type)} AS ${quoted(withoutFormulas(name))}`
      : `c${column} AS ${quoted(name)}`,
  );
  const options = format === 'csv' ? `FORMAT csv, HEADER, NULLSTR '\\N'` : 'FORMAT parquet';
  await connection.run(
    `COPY (SELECT ${selected.join(', ')} FROM temp.result_rows) TO '${RESULT}' (${options}, USE_TMP_FILE false)`,
  );
}

/** Types whose values cannot contain text of strangers. */
const NO_TEXT = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DOUBLE|FLOAT|DECIMAL\(.*\)|BOOLEAN|DATE|TIME.*)$/;

const inCsv = (column: string, type: string): string =>
  NO_TEXT.test(type) ? column : withoutFormulasInSql(`${column}::VARCHAR`);

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function refuseBeyond(rows: number): void {
  const { resultRows: most } = SQL_LIMITS;
  if (rows > most) throw new Refused(`has a result of more than ${most.toLocaleString('en')} rows; add a LIMIT`);
}
