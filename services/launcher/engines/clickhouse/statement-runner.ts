import { Session } from 'chdb';
import type { ChdbResult } from 'chdb';
import { fault, identifier, refusal, setStatement } from './statement.ts';
import type { Statement } from './statement.ts';

const MAX_RESPONSE_BYTES = 256 * 2 ** 20;

/**
 * The limits of each statement of a reader: seconds, rows and bytes of the result, bytes in memory and on disk,
 * threads. Readers may set smaller values.
 */
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
 * Runs statements on one directory, at most `limit` at a time; the others wait in order.
 *
 * Settings, parameters and the database persist in a session of the engine, and a leaked insert_deduplication_token
 * would silently drop later inserts. So each statement runs in its own session (0.2 ms). One more session, of
 * `clickhouse-main.ts`, keeps the engine running.
 */
export class StatementRunner {
  private readonly directory: string;
  private readonly limit: number;
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(directory: string, limit: number) {
    this.directory = directory;
    this.limit = limit;
  }

  /**
   * A statement whose signal was aborted while it waited is not run: its client has left, may have sent it again, and
   * the others wait for the slot.
   *
   * @throws the engine's error, `Code: N. DB::Exception: …`
   */
  async run(statement: Statement, signal?: AbortSignal): Promise<ChdbResult> {
    await this.enter();
    try {
      if (signal?.aborted === true) {
        throw fault(394, 'The client left while its statement waited, so it was not run.', 'QUERY_WAS_CANCELLED');
      }
      return await this.runInSession(statement);
    } finally {
      this.leave();
    }
  }

  private async runInSession(statement: Statement): Promise<ChdbResult> {
    const { database, defaultFormat, readOnly } = statement;
    if (!/^\w+$/.test(database)) throw refusal('Names of databases consist of letters, digits and underscores.');
    const settings = readOnly ? readerSettings(statement.settings) : statement.settings;
    const session = new Session(this.directory);
    try {
      if (database !== 'default') await session.queryAsync(`USE ${identifier(database)}`);
      const set = setStatement({ settings });
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

  private async enter(): Promise<void> {
    if (this.running < this.limit) this.running += 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** If a statement waits, it takes over the slot, so `running` does not change. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.running -= 1;
  }
}

/** The engine's own limit counts a value shared by all rows only once. @throws Error when the result is too large */
function checkResponseSize(bytes: number): void {
  if (bytes <= MAX_RESPONSE_BYTES) return;
  const message = `Limit for result exceeded, max bytes: ${MAX_RESPONSE_BYTES}, current bytes: ${bytes}.`;
  throw fault(396, message, 'TOO_MANY_ROWS_OR_BYTES');
}
