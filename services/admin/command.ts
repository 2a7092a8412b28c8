import type { ParseArgsOptionsConfig } from 'node:util';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import type { Config } from '../../shared/runtime/config.ts';

/** The options of a command line as text; a flag that was given is `true`. */
export type OptionValues = Readonly<Record<string, string | undefined>>;

/** One command of the program, as data. */
export interface Command {
  /** As typed, one word or two: `gaps`, `account create`. */
  name: string;
  summary: string;
  /** One line of help per option. */
  optionsHelp: readonly string[];
  /** Whole commands, without `npm run --silent admin --`. */
  examples: readonly string[];
  /** Whether a terminal gets a table instead of JSON lines. */
  isList?: boolean;
  options: ParseArgsOptionsConfig;
}

export interface PostgresCommand extends Command {
  /**
   * Checks the options before any connection is made.
   *
   * @throws AdminError that names the faulty option
   */
  prepare(values: OptionValues): PostgresWork;
}

export interface KafkaCommand extends Command {
  /** As PostgresCommand's. */
  prepare(values: OptionValues): KafkaWork;
}

/** A command that connects to several engines by itself. */
export interface EnginesCommand extends Command {
  /** As PostgresCommand's. */
  prepare(values: OptionValues): (config: Config, report: Report) => Promise<Lines>;
}

/** Reports to the person at the terminal, who sees it on stderr. */
export type Report = (line: string) => void;

/** Each object is printed as one line of JSON; an async iterable prints each as it comes. */
export type Lines = Iterable<object> | AsyncIterable<object>;

export type PostgresWork = (pool: Pool, config: Config) => Promise<Lines>;

export interface KafkaWorkDeps {
  kafka: KafkaConnection;
  /** Of topics and consumer groups. */
  prefix: string;
  /** Over how many groups of matchers the monitors are shared out. */
  matcherShards: number;
  /** The URL of the public site, without a trailing slash. */
  siteUrl: string;
  report: Report;
}

export type KafkaWork = (deps: KafkaWorkDeps) => Promise<Lines>;
