/** One statement of an HTTP request. */
export interface Statement {
  sql: string;
  /**
   * The settings for this statement. `param_x` is the value of the placeholder `{x:Type}`, as text of that type.
   */
  settings: Record<string, string>;
  database: string;
  /** The output format when the statement names none. */
  defaultFormat: string;
  readOnly: boolean;
}

/** URL parameters of the HTTP interface, which are not settings. */
const NOT_SETTINGS = new Set([
  'query',
  'database',
  'default_format',
  'query_id',
  'user',
  'password',
  'role',
  'quota_key',
  'session_id',
  'session_timeout',
  'session_check',
  'close_session',
  'compress',
  'decompress',
  'enable_http_compression',
  'wait_end_of_query',
  'buffer_size',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
  'send_logs_level',
  'stacktrace',
  'client_protocol_version',
]);

/**
 * Builds the statement from the parameters of the URL and the body. The body is the data of an INSERT in the `query`
 * parameter, or the statement itself.
 */
export function parseStatement(
  search: URLSearchParams,
  headers: Record<string, string | string[] | undefined>,
  body: string,
  readOnly: boolean,
): Statement {
  const settings = Object.fromEntries([...search].filter(([name]) => !NOT_SETTINGS.has(name)));
  const query = search.get('query') ?? '';
  const header = (name: string) => (typeof headers[name] === 'string' ? headers[name] : undefined);
  return {
    sql: query === '' ? body : body === '' ? query : `${query}\n${body}`,
    settings,
    database: search.get('database') ?? header('x-clickhouse-database') ?? 'default',
    defaultFormat: search.get('default_format') ?? header('x-clickhouse-format') ?? 'TabSeparated',
    readOnly,
  };
}

/** Returns a value as an SQL string literal; ClickHouse converts it to the type of the setting. */
function stringLiteral(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}

/** Returns a name as a quoted identifier. */
export function identifier(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``;
}

const SETTING_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Returns `SET a = '1', b = '2'`; undefined if there is nothing to set. @throws Error for an invalid name. */
export function setStatement({ settings }: Pick<Statement, 'settings'>): string | undefined {
  const entries = Object.entries(settings);
  const wrong = entries.find(([name]) => !SETTING_NAME.test(name));
  if (wrong) throw fault(115, `Unknown setting ${stringLiteral(wrong[0])}.`, 'UNKNOWN_SETTING');
  if (entries.length === 0) return undefined;
  return `SET ${entries.map(([name, value]) => `${name} = ${stringLiteral(value)}`).join(', ')}`;
}

const COMMENT_OR_BLANK = /^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/;

/** Returns the first word after comments, in upper case. */
function firstWord(sql: string): string {
  return /^\w+/.exec(sql.replace(COMMENT_OR_BLANK, ''))?.[0].toUpperCase() ?? '';
}

/** Returns the format of the statement's result. It never reads inserted rows, of which there are megabytes. */
export function outputFormat(statement: Statement): string {
  if (startOfRows(statement) !== undefined) return statement.defaultFormat;
  const sql = statement.sql.trimEnd().replace(/;$/, '').trimEnd();
  const lastSemicolon = sql.lastIndexOf(';');
  // A lookahead, so that matches may overlap: a column can have the name `format`.
  for (const { 0: word, 1: rest = '', 2: name = '', index } of sql.matchAll(/\bFORMAT(?=(\s+(\w+)\s*))/gi)) {
    const end = index + word.length + rest.length;
    if (end === sql.length) return name;
    if (end > lastSemicolon && /^SETTINGS\s/i.test(sql.slice(end, end + 9))) return name;
  }
  return statement.defaultFormat;
}

/** Where the rows of an INSERT begin whose format has one row per line; undefined where there are none. */
function startOfRows({ sql }: Statement): number | undefined {
  const beginning = sql.slice(0, 10_000);
  const head = /\bFORMAT\s+(?:JSONEachRow|JSONCompactEachRow|TabSeparated|TSV|CSV)\b/i.exec(beginning);
  if (head === null || firstWord(beginning) !== 'INSERT') return undefined;
  const after = head.index + head[0].length;
  const rows = sql.slice(after).trimStart();
  return rows === '' ? undefined : sql.length - rows.length;
}

/** Returns an error in the engine's format, from which clients parse the code. */
export function fault(code: number, message: string, name: string): Error {
  return new Error(`Code: ${code}. DB::Exception: ${message} (${name})`);
}

/** Returns the error for something that is not allowed here. */
export function refusal(message: string): Error {
  return fault(164, message, 'READONLY');
}
