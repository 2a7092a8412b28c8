import { Session } from 'chdb';
import type { ChdbResult } from 'chdb';
import { Semaphore } from '../../../../shared/runtime/semaphore.ts';
import { fault, setStatement } from './statement.ts';
import type { Statement } from './statement.ts';

const MAX_RESPONSE_BYTES = 256 * 2 ** 20;

/** Limits of each statement of a reader, who may set smaller values. */
const LIMITS: Record<string, number> = {
  max_execution_time: 30,
  max_result_rows: 1_000_000,
  max_result_bytes: MAX_RESPONSE_BYTES,
  max_memory_usage: 2 ** 30,
  max_temporary_data_on_disk_size_for_query: 2 ** 30,
  max_threads: 4,
};

/** The settings of a reader within the limits. What drivers send as `readonly` has no effect. */
function readerSettings({ readonly: _, ...requested }: Record<string, string>): Record<string, string> {
  const limits = Object.entries(LIMITS).map(([name, limit]): [string, string] => {
    const value = Number(requested[name] ?? limit);
    return [name, String(value > 0 && value < limit ? value : limit)];
  });
  return { ...requested, ...Object.fromEntries(limits) };
}

/**
 * Runs statements on one directory, at most `limit` at a time. Each runs in its own session (0.2 ms), in which settings
 * persist: a leaked insert_deduplication_token would silently drop later inserts. One more session, of `clickhouse-
 * main.ts`, keeps the engine running.
 */
export class StatementRunner {
  private readonly directory: string;
  private readonly slots: Semaphore;

  constructor(directory: string, limit: number) {
    this.directory = directory;
    this.slots = new Semaphore(limit);
  }

  /**
   * A statement whose signal aborts while it waits is not run: its client has disconnected.
   *
   * @throws the engine's error, `Code: N. DB::Exception: …`; the signal's reason
   */
  run(statement: Statement, signal: AbortSignal): Promise<ChdbResult> {
    return this.slots.run('', () => this.runInSession(statement), signal);
  }

  private async runInSession(statement: Statement): Promise<ChdbResult> {
    const { database, defaultFormat, readOnly } = statement;
    if (!/^\w+$/.test(database))
      throw fault(164, 'Names of databases consist of letters, digits and underscores.', 'READONLY');
    const settings = readOnly ? readerSettings(statement.settings) : statement.settings;
    const session = new Session(this.directory);
    try {
      if (database !== 'default') await session.queryAsync(`USE \`${database}\``);
      const set = setStatement(settings);
      if (set !== undefined) await session.queryAsync(set);
      // With readonly = 1 no setting can be changed any more, not even by a SETTINGS clause.
      if (readOnly) await session.queryAsync('SET readonly = 1');
      const result = await session.queryAsync(statement.sql, { format: defaultFormat });
      if (readOnly) checkResponseSize(result.bytes().length);
      return result;
    } finally {
      session.close();
    }
  }
}

/** The engine's own limit counts a value shared by all rows only once. @throws Error when the result is too large */
function checkResponseSize(bytes: number): void {
  if (bytes <= MAX_RESPONSE_BYTES) return;
  const message = `Limit for result exceeded, max bytes: ${MAX_RESPONSE_BYTES}, current bytes: ${bytes}.`;
  throw fault(396, message, 'TOO_MANY_ROWS_OR_BYTES');
}
