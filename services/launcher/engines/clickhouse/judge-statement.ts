import { Session } from 'chdb';
import { checkInsertedData } from './allowed-formats.ts';
import { fault, refusal } from './faults.ts';
import { checkReadsOnly, checkWrites } from './statement-rules.ts';
import { escaped, hasSeveralStatements, setStatement } from './statement.ts';
import type { Statement } from './statement.ts';

/** The engine parses no more. */
const MOST_STATEMENT_LENGTH = 2 ** 18;

/** Services say the same statements again and again, with other data and parameters. */
const MOST_PRINTED = 500;
const MOST_PRINTED_LENGTH = 2 ** 14;

/** Judges statements before they run: what the engine would do decides, not how it is written. */
export class StatementJudge {
  private readonly directory: string;
  /** Statements as the engine prints them. The oldest goes first. */
  private readonly printed = new Map<string, string>();

  constructor(directory: string) {
    this.directory = directory;
  }

  /** @throws Error in the engine's shape when the statement is refused or cannot be parsed */
  async check(statement: Statement): Promise<void> {
    const { sql, head, settings, readOnly } = statement;
    if (readOnly) {
      checkSingle(sql);
      checkReadsOnly({ printed: await this.print(sql), settings });
      return;
    }
    if (/^\s*INSERT\b/i.test(head ?? sql)) {
      const printed = await this.print(head ?? sql.slice(0, MOST_STATEMENT_LENGTH));
      const format = formatOfData(printed);
      if (format !== undefined) {
        checkWrites({ printed, settings });
        checkInsertedData(format, dataOf(sql, format));
        return;
      }
    }
    checkSingle(sql);
    const printed = await this.print(sql);
    checkWrites({ printed, settings });
    // Behind a comment, or begun in the URL and ended in the body: its data would not be looked at.
    if (/^INSERT\b/.test(printed) && formatOfData(printed) !== undefined) {
      throw refusal('A statement that brings rows must begin with INSERT, and name their format before them.');
    }
  }

  private async print(sql: string): Promise<string> {
    const known = this.printed.get(sql);
    if (known !== undefined) return known;
    const printed = await printStatement(this.directory, sql);
    if (sql.length <= MOST_PRINTED_LENGTH) {
      this.printed.set(sql, printed);
      const [oldest] = this.printed.keys();
      if (this.printed.size > MOST_PRINTED && oldest !== undefined) this.printed.delete(oldest);
    }
    return printed;
  }
}

function checkSingle(sql: string): void {
  if (sql.length > MOST_STATEMENT_LENGTH) throw fault(62, 'Syntax error: Max query size exceeded.', 'SYNTAX_ERROR');
  if (hasSeveralStatements(sql)) throw fault(62, 'Syntax error (Multi-statements are not allowed).', 'SYNTAX_ERROR');
}

/** The format of the data that an INSERT brings with it; undefined when it selects its rows. */
function formatOfData(printed: string): string | undefined {
  const format = /\sFORMAT `?(\w+)`?$/.exec(printed)?.[1];
  if (format !== undefined && /\b(?:SELECT|FROM|EXPLAIN|WATCH)\b/.test(printed)) {
    throw refusal('An INSERT either selects its rows or brings them in a format.');
  }
  return format;
}

/** All that follows the first word that may introduce the data: never less than what the engine takes for data. */
function dataOf(sql: string, format: string): string {
  const introduction = /\b(?:FORMAT|VALUES)\b/i.exec(sql);
  const rest = sql.slice(introduction === null ? 0 : introduction.index + introduction[0].length);
  const name = rest.trimStart();
  return name.toLowerCase().startsWith(format.toLowerCase()) ? name.slice(format.length) : rest;
}

/**
 * The engine parses the statement, so that what is judged is what it would do. @throws the engine's error for what it
 * cannot parse.
 */
async function printStatement(directory: string, sql: string): Promise<string> {
  // A session of its own: the parameter must not be one of the statement.
  const session = new Session(directory);
  try {
    await session.queryAsync(setStatement({ settings: { param_statement: escaped(sql) } })!);
    return (await session.queryAsync('SELECT formatQuery({statement: String})', { format: 'RawBLOB' })).text();
  } catch (error) {
    throw new Error((error as Error).message.replace(/: In scope SELECT formatQuery\([^]*\)\. \(/, '. ('), {
      cause: error,
    });
  } finally {
    session.close();
  }
}
