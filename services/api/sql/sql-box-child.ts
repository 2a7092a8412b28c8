/**
 * The process of one statement: it has the rows of one account as Parquet files in its working directory, and nothing
 * else. DuckDB reads only these files and writes only `result`; the parent watches its memory, its time and the size of
 * the result, and ends it.
 */
import { openSync, writeSync } from 'node:fs';
import { DuckDBInstance, StatementType } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBResult, DuckDBType } from '@duckdb/node-api';
import { SQL_TABLES } from '../../../shared/stores/sql/account-rows.ts';
import { RESULT } from './sql-box.ts';
import type { BoxAnswer, BoxJob } from './sql-box.ts';

const SETTINGS = {
  threads: '2',
  temp_directory: '',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  allow_persistent_secrets: 'false',
  extension_directory: 'none',
  home_directory: 'none',
  secret_directory: 'none',
};

/** What a statement may be: whatever else DuckDB knows would find nothing here, but its author meant something else. */
const READS = new Set([StatementType.SELECT, StatementType.EXPLAIN]);

/** What is wrong with the statement, for its author. */
class Refused extends Error {}

/** The box itself cannot be made. */
class Broken extends Error {}

process.once('message', (job: BoxJob) => {
  void answer(job)
    .catch(refusalOf)
    .then((told) => process.send!(told, () => process.exit(0)));
});

function refusalOf(error: unknown): BoxAnswer {
  const { message } = error as Error;
  if (error instanceof Broken) return { broken: message };
  return { refusal: error instanceof Refused ? message : `cannot be run: ${message.replace(/\s+/g, ' ').trim()}` };
}

async function answer({ query, format, memoryMb, mostRows }: BoxJob): Promise<BoxAnswer> {
  const { instance, connection, rowsRead } = await openBox(memoryMb).catch((error: unknown) => {
    throw new Broken((error as Error).message);
  });
  const statements = await connection.extractStatements(query);
  if (statements.count !== 1) throw new Refused('must be one statement');
  const prepared = await statements.prepare(0);
  if (!READS.has(prepared.statementType)) throw new Refused('must be a SELECT');
  const result = await prepared.stream();
  const columns = result
    .deduplicatedColumnNames()
    .map((name, column) => ({ name, type: String(result.columnType(column)) }));
  if (format === 'json') await writeJson(result, mostRows);
  // Another connection, because a statement ends the one that is read.
  else await writeFile(await instance.connect(), result, format, mostRows);
  return { columns, rowsRead };
}

/** Makes the tables, then closes everything else. */
async function openBox(
  memoryMb: number,
): Promise<{ instance: DuckDBInstance; connection: DuckDBConnection; rowsRead: number }> {
  const instance = await DuckDBInstance.create(':memory:', { ...SETTINGS, memory_limit: `${memoryMb}MB` });
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

/** One array a line, with 64-bit integers as strings. */
async function writeJson(result: DuckDBResult, mostRows: number): Promise<void> {
  const file = openSync(RESULT, 'wx', 0o600);
  let count = 0;
  for await (const rows of result.yieldRowsJson()) {
    count += rows.length;
    if (count > mostRows) throw tooMany(mostRows);
    writeSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
}

/** DuckDB writes tables only, so the rows become one. */
async function writeFile(
  connection: DuckDBConnection,
  result: DuckDBResult,
  format: 'csv' | 'parquet',
  mostRows: number,
): Promise<void> {
  const names = result.deduplicatedColumnNames().map(quoted);
  const types = result.columnTypes();
  const columns = names.map((name, column) => `${name} ${String(types[column])}`);
  await connection.run(`CREATE TEMP TABLE result_rows (${columns.join(', ')})`);
  const appender = await connection.createAppender('result_rows', undefined, 'temp');
  let count = 0;
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    count += chunk.rowCount;
    if (count > mostRows) throw tooMany(mostRows);
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
  const selected = names.map((name, column) => (format === 'csv' ? inCsv(name, types[column]!) : name));
  const options = format === 'csv' ? `FORMAT csv, HEADER, NULLSTR '\\N'` : 'FORMAT parquet';
  await connection.run(
    `COPY (SELECT ${selected.join(', ')} FROM temp.result_rows) TO '${RESULT}' (${options}, USE_TMP_FILE false)`,
  );
}

/** What a spreadsheet takes for a formula gets an apostrophe; as in the files of exports. */
function inCsv(name: string, type: DuckDBType): string {
  if (String(type) !== 'VARCHAR') return name;
  return `CASE WHEN regexp_matches(${name}, '^[=+@\\t\\r＝＋－＠-]') THEN '''' || ${name} ELSE ${name} END AS ${name}`;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const tooMany = (rows: number): Refused =>
  new Refused(`has a result of more than ${rows.toLocaleString('en')} rows; add a LIMIT`);
