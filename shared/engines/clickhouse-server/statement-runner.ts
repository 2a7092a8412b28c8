import { Session } from 'chdb';
import type { ChdbResult } from 'chdb';
import { checkAnswer, checkReadsOnly, readOnlySettings } from './read-only-statement.ts';
import { escaped, identifier, setStatement } from './statement.ts';
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
      if (statement.readOnly) await checkStatement(session, statement.sql);
      if (statement.database !== 'default') await session.queryAsync(`USE ${identifier(statement.database)}`);
      const settings = statement.readOnly ? readOnlySettings(statement.settings) : statement.settings;
      const set = setStatement({ settings });
      if (set !== undefined) await session.queryAsync(set);
      // 1: from here on no setting can be changed any more, not by a SETTINGS clause either.
      if (statement.readOnly) await session.queryAsync('SET readonly = 1');
      const result = await session.queryAsync(statement.sql, { format: statement.defaultFormat });
      if (statement.readOnly) checkAnswer(result.bytes().length);
      return result;
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

/** The engine parses the statement, so that what is checked is what it would do. @throws the engine's error for what it cannot parse. */
async function checkStatement(session: Session, sql: string): Promise<void> {
  let printed: string;
  try {
    await session.queryAsync(setStatement({ settings: { param_statement: escaped(sql) } })!);
    printed = (await session.queryAsync('SELECT formatQuery({statement: String})', { format: 'RawBLOB' })).text();
  } catch (error) {
    throw new Error((error as Error).message.replace(/: In scope SELECT formatQuery\([^]*\)\. \(/, '. ('), {
      cause: error,
    });
  }
  checkReadsOnly(printed);
}
