import type { ParseArgsOptionsConfig } from 'node:util';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import type { Pool, Queryable } from '../../shared/postgres/pool.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { findSecretKeys } from '../../shared/stores/upkeep/secret-keys.ts';
import type { SecretKeys, SecretKeySettings } from '../../shared/stores/upkeep/secret-keys.ts';

/** An error that the administrator can act on: its message is printed without a stack. */
export class AdminError extends Error {
  override name = 'AdminError';
}

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

export interface CommandOf<Work> extends Command {
  /**
   * Checks the options before any connection is made.
   *
   * @throws AdminError that names the faulty option
   */
  prepare: (values: OptionValues) => Work;
}

export type PostgresCommand = CommandOf<PostgresWork>;
export type KafkaCommand = CommandOf<KafkaWork>;
/** A command that connects to several engines by itself. */
export type EnginesCommand = CommandOf<(config: Config, report: Report) => Promise<Lines>>;

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

/** @throws AdminError unless the option is left out and has a default, or is an integer from `min` to `max` */
export function integerOption(
  values: OptionValues,
  name: string,
  { min = 1, max, byDefault }: { min?: number; max: number; byDefault?: number },
): number {
  const text = values[name];
  if (text === undefined && byDefault !== undefined) return byDefault;
  if (text === undefined) throw new AdminError(`--${name} is required.`);
  const count = /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : Number.NaN;
  if (!(count >= min && count <= max)) throw new AdminError(`--${name}: must be an integer from ${min} to ${max}.`);
  return count;
}

/** A stored row as commands print it: the same fields in snake_case, in the same order. */
export function printedRow(row: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([field, value]) => [
      field.replace(/[A-Z]|(?<=[a-z])\d/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** @throws AdminError when SECRET_KEY is unset although the services have one */
export async function requireSecretKeys(db: Queryable, settings: SecretKeySettings): Promise<SecretKeys> {
  const keys = await findSecretKeys(db, settings);
  if (keys === undefined) throw new AdminError('Set SECRET_KEY to the value that the service runs with.');
  return keys;
}
