import type { ClickHouseClient } from '../../clickhouse/clickhouse-client.ts';
import { accountTables, CONTENT_COLUMNS } from './account-tables.ts';
import { judgePrinted, judgeTree, SqlRefused } from './judge-sql.ts';
import { sqlFault } from './sql-fault.ts';

/** Where statements of customers run. */
export interface SqlEngine {
  /** A client whose database is `sandbox`. */
  clickhouse: ClickHouseClient;
  /** A client of the archive, which makes the sandbox. */
  archiveClickhouse: ClickHouseClient;
  /** The name of the archive's database. */
  archive: string;
  /** An empty database: a name in a statement that the server did not define finds nothing there. */
  sandbox: string;
  /** How long a result is waited for; default 15 s. */
  answerMs?: number;
}

export const SQL_LIMITS = {
  seconds: 10,
  memoryBytes: 2 ** 30,
  resultRows: 100_000,
  resultBytes: 32 * 2 ** 20,
} as const;

/** Longer than a statement may take, so that the engine's own message is the one that is told. */
const ANSWER_MS = 15_000;
const SIGN_OF_LIFE_MS = 5_000;

/** The engine did not end a statement in its time: it cannot interrupt a call of a function, or it is away. */
export class SqlOverdue extends Error {
  override name = 'SqlOverdue';
  /** Resolves when the engine has ended the statement, or its connection broke. */
  readonly ended: Promise<void>;

  constructor(ended: Promise<void>) {
    super('the engine did not end a statement in its time');
    this.ended = ended;
  }
}

const FORMATS = { json: 'JSONCompactEachRow', csv: 'CSVWithNames', parquet: 'Parquet' } as const;
export type SqlFormat = keyof typeof FORMATS;

/** All settings of a customer's statement. None comes from its author. */
const SETTINGS = {
  readonly: '1',
  max_execution_time: SQL_LIMITS.seconds,
  max_memory_usage: String(SQL_LIMITS.memoryBytes),
  max_temporary_data_on_disk_size_for_query: String(2 ** 30),
  max_result_rows: String(SQL_LIMITS.resultRows),
  max_result_bytes: String(SQL_LIMITS.resultBytes),
  max_rows_to_read: String(1_000_000_000),
  max_bytes_to_read: String(100 * 2 ** 30),
  max_threads: 2,
  // The time is looked at between blocks.
  max_block_size: '8192',
  result_overflow_mode: 'throw',
  // The author's conditions see only the rows that the server's condition leaves. Merged or moved before it, they would
  // run over the rows of others, and an error quotes the value that it is about.
  optimize_move_to_prewhere: 0,
  query_plan_merge_filters: 0,
  // Otherwise an error in the middle would come as a part of the result.
  wait_end_of_query: 1,
  output_format_json_quote_64bit_integers: 1,
} as const;

interface SqlColumn {
  name: string;
  /** Of ClickHouse. */
  type: string;
}

export interface SqlResult {
  columns: SqlColumn[];
  /** The whole result in the format; as JSON one array a line, with 64-bit integers as strings. */
  bytes: Buffer;
}

/** A statement that was judged, with the customer's tables before it. */
export interface PreparedSql {
  tables: string;
  /** As the engine printed it. */
  select: string;
}

/**
 * Lets the engine parse the text and judges what it understood.
 *
 * @param text as its author wrote it
 * @param monitorIds the account's monitors
 * @throws SqlRefused, and the engine's error when it is away
 */
export async function prepareSql(
  engine: SqlEngine,
  text: string,
  monitorIds: readonly string[],
  signal: AbortSignal,
): Promise<PreparedSql> {
  const ask = async (query: string): Promise<string> => {
    const result = await engine.archiveClickhouse.query({
      query,
      format: 'JSONEachRow',
      clickhouse_settings: { max_execution_time: 5 },
      abort_signal: signal,
    });
    const rows = await result.json<Record<string, string>>();
    return rows.map((row) => Object.values(row)[0] ?? '').join('\n');
  };
  try {
    // As a parameter it would be too long for the address of a request. On one line it does not grow with its depth.
    const encoded = Buffer.from(text).toString('base64');
    const select = await ask(`SELECT formatQuerySingleLine(base64Decode('${encoded}'))`);
    const commonTables = judgePrinted(select);
    const tree = await ask(`SELECT explain FROM (EXPLAIN AST ${select})`);
    const { readsContent } = judgeTree(tree, commonTables, CONTENT_COLUMNS);
    return { tables: accountTables(engine.archive, monitorIds, { readsContent }), select };
  } catch (error) {
    throw sqlFault(error, engine);
  }
}

/**
 * Runs a prepared statement. Its values are materialized, so that the limit of the result counts each row's; sorted
 * rows stay sorted, since nothing else is done with them.
 *
 * @returns the whole result in the format
 * @throws SqlRefused when the statement cannot be run, or is beyond a limit; SqlOverdue; the engine's error when it is
 *   away
 */
export async function runSql(engine: SqlEngine, prepared: PreparedSql, format: SqlFormat): Promise<SqlResult> {
  const overdue = new AbortController();
  const result = readResult(engine, prepared, format, overdue.signal);
  const ended = result.then(
    () => undefined,
    () => undefined,
  );
  const timer = setTimeout(() => overdue.abort(new SqlOverdue(ended)), engine.answerMs ?? ANSWER_MS);
  const late = new Promise<never>((_, reject) => {
    overdue.signal.addEventListener('abort', () => reject(overdue.signal.reason as SqlOverdue), { once: true });
  });
  try {
    return await Promise.race([result, late]);
  } catch (error) {
    throw sqlFault(error, engine);
  } finally {
    clearTimeout(timer);
  }
}

/** The request is not given up when it is overdue: only its answer tells when the engine has ended the statement. */
async function readResult(
  engine: SqlEngine,
  { tables, select }: PreparedSql,
  format: SqlFormat,
  overdue: AbortSignal,
): Promise<SqlResult> {
  const described = await engine.clickhouse.query({
    query: `DESCRIBE TABLE (${tables}\nSELECT * FROM (\n${select}\n) AS asked)`,
    format: 'JSONEachRow',
    clickhouse_settings: SETTINGS,
  });
  const columns = (await described.json<SqlColumn>()).map(({ name, type }) => ({ name, type }));
  const selected = columns.map((column) => valueOf(column, format)).join(', ');
  overdue.throwIfAborted();
  const { stream } = await engine.clickhouse.exec({
    query: `${tables}\nSELECT ${selected} FROM (\n${select}\n) AS asked\nFORMAT ${FORMATS[format]}`,
    clickhouse_settings: SETTINGS,
  });
  return { columns, bytes: await bytesOf(stream) };
}

/** Whether the engine answers others: a statement that is overdue then is so by itself. */
export async function answersOthers({ archiveClickhouse }: SqlEngine): Promise<boolean> {
  try {
    const answer = await archiveClickhouse.query({
      query: 'SELECT 1',
      abort_signal: AbortSignal.timeout(SIGN_OF_LIFE_MS),
    });
    await answer.text();
    return true;
  } catch {
    return false;
  }
}

/** Types of texts, which the forum wrote. */
const TEXT = /^(?:(?:LowCardinality|Nullable)\()*(?:Fixed)?String\b/;
/** What a spreadsheet takes for a formula; as in the files of exports. */
const FORMULA = `'^[=+@\\\\t\\\\r＝＋－＠-]'`;

/** A column of the result. In CSV, a text that a spreadsheet would take for a formula begins with an apostrophe. */
function valueOf({ name, type }: SqlColumn, format: SqlFormat): string {
  const column = quoted(name);
  const value = `materialize(asked.${column})`;
  if (format !== 'csv' || !TEXT.test(type)) return `${value} AS ${column}`;
  return `if(match(${value}, ${FORMULA}), concat('''', ${value}), ${value}) AS ${column}`;
}

const quoted = (name: string): string => `\`${name.replace(/[\\`]/g, '\\$&')}\``;

/** As text a result may be some times as large as the engine counts; this much is held and written. */
const MOST_BYTES = 2 * SQL_LIMITS.resultBytes;

async function bytesOf(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += (chunk as Buffer).length;
    if (bytes > MOST_BYTES) throw new SqlRefused('has a result of more than 32 MB; add a LIMIT');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** Makes the empty database, once a process. */
export async function prepareSandbox({ archiveClickhouse, sandbox }: SqlEngine): Promise<void> {
  if (!/^\w+$/.test(sandbox)) throw new Error('the sandbox has an unexpected name');
  await archiveClickhouse.command({
    query: `CREATE DATABASE IF NOT EXISTS ${sandbox}`,
    abort_signal: AbortSignal.timeout(SIGN_OF_LIFE_MS),
  });
}
