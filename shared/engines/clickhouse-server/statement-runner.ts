import { Session } from 'chdb';
import type { ChdbResult } from 'chdb';
import { identifier, setStatement } from './statement.ts';
import type { Statement } from './statement.ts';

/**
 * Runs statements on one directory, at most `limit` at a time, the others wait in order.
 *
 * Settings, parameters and the database stick to a session of the engine, and a leaked insert_deduplication_token would drop
 * later inserts without a word. So every statement gets a session of its own (0.2 ms), which nothing can leak out of.
 */
export class StatementRunner {
  private readonly directory: string;
  private readonly limit: number;
  /** Keeps the engine running between statements. */
  private readonly keeper: Session;
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(directory: string, limit: number) {
    this.directory = directory;
    this.limit = limit;
    this.keeper = new Session(directory);
  }

  /** @throws the engine's error, `Code: N. DB::Exception: …` */
  async run(statement: Statement): Promise<ChdbResult> {
    await this.enter();
    try {
      return await this.runInSession(statement);
    } finally {
      this.leave();
    }
  }

  /** Call it when no statement runs any more. */
  close(): void {
    this.keeper.close();
  }

  private async runInSession(statement: Statement): Promise<ChdbResult> {
    const session = new Session(this.directory);
    try {
      // 2: reads only, and settings may still be set, but not this one.
      if (statement.readOnly) await session.queryAsync('SET readonly = 2');
      if (statement.database !== 'default') await session.queryAsync(`USE ${identifier(statement.database)}`);
      const set = setStatement(statement);
      if (set !== undefined) await session.queryAsync(set);
      return await session.queryAsync(statement.sql, { format: statement.defaultFormat });
    } finally {
      session.close();
    }
  }

  private async enter(): Promise<void> {
    if (this.running < this.limit) this.running += 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** A place is handed on, not given back, while someone waits. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.running -= 1;
  }
}
