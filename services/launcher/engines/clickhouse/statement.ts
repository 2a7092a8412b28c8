export interface Statement {
  sql: string;
  /** `param_x` is the value of the placeholder `{x:Type}`, as text of that type. */
  settings: Record<string, string>;
  database: string;
  defaultFormat: string;
  readOnly: boolean;
}

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

/** The body is the data of an INSERT in the `query` parameter, or the statement itself. */
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

const SETTING_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Returns `SET a = '1', b = '2'`; undefined if there is nothing to set. @throws Error for an invalid name. */
export function setStatement(settings: Statement['settings']): string | undefined {
  const entries = Object.entries(settings);
  const wrong = entries.find(([name]) => !SETTING_NAME.test(name));
  if (wrong) throw fault(115, `Unknown setting ${stringLiteral(wrong[0])}.`, 'UNKNOWN_SETTING');
  if (entries.length === 0) return undefined;
  return `SET ${entries.map(([name, value]) => `${name} = ${stringLiteral(value)}`).join(', ')}`;
}

export function outputFormat({ sql, defaultFormat }: Statement): string {
  const end = sql.slice(-200).trimEnd().replace(/;$/, '').trimEnd();
  return /\bFORMAT\s+(\w+)$/i.exec(end)?.[1] ?? defaultFormat;
}

/** In the engine's format, from which clients parse the code. */
export function fault(code: number, message: string, name: string): Error {
  return new Error(`Code: ${code}. DB::Exception: ${message} (${name})`);
}
