import type { ParseArgsOptionsConfig } from 'node:util';
import type { Pool } from '../../shared/postgres/pool.ts';

/** What the user gave; every option takes a value. */
export type OptionValues = Readonly<Record<string, string | undefined>>;

/** One command of the program, as data. */
export interface Command {
  /** As typed: `account create`. */
  name: string;
  summary: string;
  /** Lines of help, one per option. */
  optionsHelp: readonly string[];
  options: ParseArgsOptionsConfig;
  /**
   * Checks the options before any connection is made.
   *
   * @returns the work; what it returns is printed as JSON, one line each
   * @throws AdminError that names the option at fault
   */
  prepare(values: OptionValues): (pool: Pool) => Promise<object[]>;
}
