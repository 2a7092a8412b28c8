import type { ParseArgsOptionsConfig } from 'node:util';
import type { Pool } from '../../shared/postgres/pool.ts';
import type { Config } from '../../shared/runtime/config.ts';

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
   * @returns the work; what it gives is printed as JSON, one line each
   * @throws AdminError that names the option at fault
   */
  prepare(values: OptionValues): CommandWork;
}

/** Lines may come one by one, where there are many. */
export type CommandWork = (pool: Pool, config: Config) => Promise<Iterable<object> | AsyncIterable<object>>;
