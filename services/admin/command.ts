import type { Command } from 'commander';
import { createClickhouse } from '../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import { createKafka } from '../../shared/kafka/kafka-connection.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import { createPool } from '../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../shared/postgres/pool.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { brokersOf, readEndpoints } from '../../shared/runtime/endpoints-file.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import { findSecretKeys } from '../../shared/maintenance/settings.ts';
import type { SecretKeys, SecretKeySettings } from '../../shared/maintenance/settings.ts';

/** An error that the administrator can act on: its message is printed without a stack. */
export class AdminError extends Error {
  override name = 'AdminError';
}

/**
 * The installation to administer. The settings name its servers, else the file that the running service wrote into its
 * data directory. The client of a server is made when a command first asks for it, which throws AdminError when neither
 * names the server.
 */
export class Installation {
  readonly config: Config;
  /** Of topics and consumer groups. */
  readonly prefix: string;
  /** Over how many groups of matchers the monitors are shared out. */
  readonly matcherShards: number;
  /** Tells the person at the terminal, who sees it on stderr. */
  readonly report: (line: string) => void;
  readonly logger = createLogger('silent');
  private clients: { pool?: Pool; kafka?: KafkaConnection; clickhouse?: ClickHouseClient } = {};

  constructor(config: Config, report: (line: string) => void) {
    this.config = config;
    this.prefix = config.kafka.topicPrefix;
    this.matcherShards = config.matcher.shards;
    this.report = report;
  }

  get postgresUrl(): string {
    return this.config.postgresUrl ?? this.endpoint('postgres', 'DATABASE_URL');
  }

  get pool(): Pool {
    return (this.clients.pool ??= createPool({ url: this.postgresUrl, name: 'admin', logger: this.logger, max: 1 }));
  }

  get kafka(): KafkaConnection {
    const brokers = this.config.kafka.brokers ?? brokersOf(this.endpoint('kafka', 'KAFKA_BROKERS')).split(',');
    const { security } = this.config.kafka;
    return (this.clients.kafka ??= createKafka({ brokers, security, clientId: 'admin', logger: this.logger }));
  }

  /** Whether the broker is the embedded one, whose topics are smaller. */
  get embedsKafka(): boolean {
    const { kafka, embedded, dataDir } = this.config;
    if (kafka.brokers !== undefined) return embedded.kafka;
    return readEndpoints(dataDir)?.embedded.includes('kafka') === true;
  }

  get clickhouse(): ClickHouseClient {
    const url = this.config.clickhouseUrl ?? this.endpoint('clickhouse', 'CLICKHOUSE_URL');
    return (this.clients.clickhouse ??= createClickhouse(url, 'forum-monitor admin', this.config.clickhouse));
  }

  async close(): Promise<void> {
    await Promise.all([this.clients.clickhouse?.close(), this.clients.pool?.end()]);
  }

  private endpoint(engine: 'postgres' | 'kafka' | 'clickhouse', variable: string): string {
    const { dataDir } = this.config;
    const url = readEndpoints(dataDir)?.[engine];
    if (url !== undefined) return url;
    throw new AdminError(
      `No service is running with DATA_DIR ${dataDir}. Start one with "npm start", or set DATA_DIR or ${variable} to the value of the service that you want to administer.`,
    );
  }
}

/** Each object is printed as one line of JSON; an async iterable prints each as it comes. */
export type Lines = Iterable<object> | AsyncIterable<object>;

type Action = <Options>(
  work: (installation: Installation, options: Options) => Lines | Promise<Lines>,
) => (options: Options) => Promise<void>;

export interface Actions {
  lines: Action;
  /** Prints a table on a terminal without --json, else JSON lines. */
  table: Action;
}

/** What a file of commands exports. The functions that parse its options throw AdminError, before any connection. */
export type AddCommands = (program: Command, actions: Actions) => void;

/** The end of a command's help: whole commands, without `npm run --silent admin --`. */
export function examples(...commands: string[]): string {
  return ['\nExamples:', ...commands.map((command) => `  npm run --silent admin -- ${command}`)].join('\n');
}

export function integer(option: string, max: number, min = 1): (text: string) => number {
  return (text) => {
    const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (count >= min && count <= max) return count;
    throw new AdminError(`${option}: must be an integer from ${min} to ${max}.`);
  };
}

export function oneOf<Word extends string>(option: string, words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const word = words.find((one) => one === text);
    if (word === undefined) throw new AdminError(`${option}: must be one of ${words.join(', ')}.`);
    return word;
  };
}

/** Parses a time with its zone. */
export function time(option: string): (text: string) => Date {
  return (text) => {
    const parsed = /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:\d{2})$/.test(text) ? new Date(text) : new Date(Number.NaN);
    if (Number.isNaN(parsed.getTime())) throw new AdminError(`${option}: must be a time such as 2026-03-04T05:06:07Z.`);
    return parsed;
  };
}

const MAX_REFERENCE_CHARACTERS = 200;

/** Parses the idempotency key of a grant: repeating the command gives nothing twice. */
export function reference(text: string): string {
  if (text.trim() !== '' && text.length <= MAX_REFERENCE_CHARACTERS && !/\p{Cc}/u.test(text)) return text;
  throw new AdminError(`--reference: must be 1 to ${MAX_REFERENCE_CHARACTERS} characters, without control characters.`);
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
  if (keys === undefined) throw new AdminError('Set SECRET_KEY to the value that the service uses.');
  return keys;
}
