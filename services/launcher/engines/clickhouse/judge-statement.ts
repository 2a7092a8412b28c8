import { Session } from 'chdb';
import { checkInsertedData } from './allowed-formats.ts';
import { fault, refusal } from './faults.ts';
import { checkReadsOnly, checkWrites } from './statement-rules.ts';
import { escaped, hasSeveralStatements, setStatement } from './statement.ts';
import type { Statement } from './statement.ts';

/** The longest statement that the engine parses. */
const MAX_STATEMENT_LENGTH = 2 ** 18;

/** The services repeat the same statements with other data and parameters, so the printed forms are cached. */
const MAX_PRINTED = 500;
const MAX_PRINTED_LENGTH = 2 ** 14;

/** Checks statements before they run, in the form that the engine prints after parsing, not as they were written. */
export class StatementJudge {
  private readonly directory: string;
  /** The printed form of recent statements; the oldest is dropped first. */
  private readonly printed = new Map<string, string>();

  constructor(directory: string) {
    this.directory = directory;
  }

  /** @throws Error in the engine's format when the statement is refused or cannot be parsed */
  async check(statement: Statement): Promise<void> {
    const { sql, head, settings, readOnly } = statement;
    if (readOnly) {
      checkSingle(sql);
      checkReadsOnly({ printed: await this.print(sql), settings });
      return;
    }
    if (/^\s*INSERT\b/i.test(head ?? sql)) {
      const printed = await this.print(head ?? sql.slice(0, MAX_STATEMENT_LENGTH));
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
    // An INSERT after a comment, or split between the URL and the body: its data was not checked above.
    if (/^INSERT\b/.test(printed) && formatOfData(printed) !== undefined) {
      throw refusal('An INSERT with rows must begin with INSERT and name the format before the rows.');
    }
  }

  private async print(sql: string): Promise<string> {
    const known = this.printed.get(sql);
    if (known !== undefined) return known;
    const printed = await printStatement(this.directory, sql);
    if (sql.length <= MAX_PRINTED_LENGTH) {
      this.printed.set(sql, printed);
      const [oldest] = this.printed.keys();
      if (this.printed.size > MAX_PRINTED && oldest !== undefined) this.printed.delete(oldest);
    }
    return printed;
  }
}

function checkSingle(sql: string): void {
  if (sql.length > MAX_STATEMENT_LENGTH) throw fault(62, 'Syntax error: Max query size exceeded.', 'SYNTAX_ERROR');
  if (hasSeveralStatements(sql)) throw fault(62, 'Syntax error (Multi-statements are not allowed).', 'SYNTAX_ERROR');
}

/** Returns the format of the rows in an INSERT; undefined if it selects its rows. */
function formatOfData(printed: string): string | undefined {
  const format = /\sFORMAT `?(\w+)`?$/.exec(printed)?.[1];
  if (format !== undefined && /\b(?:SELECT|FROM|EXPLAIN|WATCH)\b/.test(printed)) {
    throw refusal('An INSERT must either select its rows or contain them in a format, not both.');
  }
  return format;
}

/** Returns everything after the first word that can begin the data: at least what the engine treats as data. */
function dataOf(sql: string, format: string): string {
  const introduction = /\b(?:FORMAT|VALUES)\b/i.exec(sql);
  const rest = sql.slice(introduction === null ? 0 : introduction.index + introduction[0].length);
  const name = rest.trimStart();
  // Only the name: after it there are megabytes of rows.
  const isNamed = name.slice(0, format.length).toLowerCase() === format.toLowerCase();
  return isNamed ? name.slice(format.length) : rest;
}

/**
 * Lets the engine parse and print the statement, so that the checks see what the engine would run. @throws the engine's
 * error for a statement that it cannot parse.
 */
async function printStatement(directory: string, sql: string): Promise<string> {
  // A separate session: this parameter must not be visible to the statement.
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
