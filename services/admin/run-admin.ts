import { parseArgs } from 'node:util';
import { isClickhouseAway } from '../../shared/clickhouse/clickhouse-away.ts';
import { isKafkaAway } from '../../shared/kafka/kafka-away.ts';
import { createKafka } from '../../shared/kafka/kafka-connection.ts';
import { TopicsDiffer } from '../../shared/kafka/topics/topic-admin.ts';
import { markedEngine } from '../../shared/outages/engine.ts';
import { createPool } from '../../shared/postgres/pool.ts';
import { isPostgresAway, sqlState } from '../../shared/postgres/postgres-away.ts';
import { ConfigError, loadConfig } from '../../shared/runtime/config.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { errorMessage } from '../../shared/runtime/errors.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import { ACCOUNT_CREATE, ACCOUNT_LIST, ACCOUNT_SHOW } from './accounts/account-commands.ts';
import { ACCOUNT_EXPORT } from './accounts/account-export.ts';
import { ACCOUNT_DELETE, ACCOUNT_FREEZE, ACCOUNT_UNFREEZE } from './accounts/account-state-commands.ts';
import { ACCOUNT_GRANT, ACCOUNT_PACK, ACCOUNT_REFUND } from './credit-commands.ts';
import { DELIVERIES_FAILED, DELIVERIES_PENDING } from './monitors/delivery-commands.ts';
import { DELIVERIES_RETRY } from './monitors/delivery-retry-command.ts';
import { COVERAGE } from './coverage-commands.ts';
import { GAPS } from './gap-commands.ts';
import { GRANT_LIST, GRANT_REVOKE } from './grant-commands.ts';
import { KEY_CREATE, KEY_LIST, KEY_REVOKE } from './key-commands.ts';
import { MONITOR_LIST, MONITOR_PAUSE, MONITOR_RESUME, MONITOR_SHOW } from './monitors/monitor-commands.ts';
import { MONITOR_TEST } from './monitors/monitor-test-command.ts';
import { ACCOUNT_SIGN_IN_LINK } from './accounts/sign-in-link-command.ts';
import { table } from './table.ts';
import { LEDGER_CHECK, LEDGER_CORRECT } from './ledger-commands.ts';
import { AdminError } from './admin-error.ts';
import type { Command, EnginesCommand, KafkaCommand, Lines, OptionValues, PostgresCommand } from './command.ts';
import { DEAD_LETTERS_COUNT, DEAD_LETTERS_LIST, DEAD_LETTERS_REPLAY } from './dead-letter-commands.ts';
import { findBrokers, findPostgres } from './find-engines.ts';
import { MIGRATE } from './migrate-command.ts';
import { ARCHIVE_REBUILD } from './restoring/archive-rebuild-command.ts';
import { RESTORE_FINISH } from './restoring/restore-finish-command.ts';
import { MATCHERS_SHARE_OUT } from './matcher-commands.ts';
import { SECRETS_RESEAL } from './secrets/secrets-reseal-command.ts';
import { STATUS } from './status/status-command.ts';
import { TOPICS_LIST, TOPICS_RAISE } from './topic-commands.ts';

const POSTGRES_COMMANDS: readonly PostgresCommand[] = [
  ACCOUNT_CREATE,
  ACCOUNT_SHOW,
  ACCOUNT_LIST,
  ACCOUNT_GRANT,
  ACCOUNT_PACK,
  ACCOUNT_REFUND,
  ACCOUNT_FREEZE,
  ACCOUNT_UNFREEZE,
  ACCOUNT_DELETE,
  ACCOUNT_EXPORT,
  ACCOUNT_SIGN_IN_LINK,
  KEY_CREATE,
  KEY_LIST,
  KEY_REVOKE,
  GRANT_LIST,
  GRANT_REVOKE,
  MONITOR_LIST,
  MONITOR_SHOW,
  MONITOR_PAUSE,
  MONITOR_RESUME,
  MONITOR_TEST,
  DELIVERIES_PENDING,
  DELIVERIES_FAILED,
  DELIVERIES_RETRY,
  LEDGER_CHECK,
  LEDGER_CORRECT,
  SECRETS_RESEAL,
  GAPS,
  COVERAGE,
];
const KAFKA_COMMANDS: readonly KafkaCommand[] = [
  DEAD_LETTERS_LIST,
  DEAD_LETTERS_REPLAY,
  DEAD_LETTERS_COUNT,
  TOPICS_LIST,
  TOPICS_RAISE,
  MATCHERS_SHARE_OUT,
];
const ENGINES_COMMANDS: readonly EnginesCommand[] = [STATUS, MIGRATE, RESTORE_FINISH, ARCHIVE_REBUILD];
const COMMANDS: readonly RunnableCommand[] = [
  ...POSTGRES_COMMANDS.map(withPostgres),
  ...KAFKA_COMMANDS.map(withKafka),
  ...ENGINES_COMMANDS.map(withEngines),
];
const COMMON_HELP = [
  '--json                 JSON lines on a terminal, too, where lists are tables',
  '--help                 print this text',
];
const UNDEFINED_TABLE = '42P01';

export interface Terminal {
  /** Whether `out` is a terminal: it gets tables, unless --json is given. */
  isTerminal?: boolean;
  out: (line: string) => void;
  err: (line: string) => void;
}

/** A command that connects to its engine, runs, prints its lines and disconnects. */
interface RunnableCommand extends Command {
  /** @throws AdminError that names the faulty option, before any connection is made */
  prepare(values: OptionValues): (config: Config, terminal: Terminal) => Promise<void>;
}

/**
 * Runs one command. It prints results as JSON lines (lists as a table on a terminal without --json), and help that was
 * asked for, to `out`; messages for people go to `err`.
 *
 * @returns the exit code: 0, or 1 when the command was wrong or failed
 */
export async function runAdmin(
  args: readonly string[],
  env: Record<string, string | undefined>,
  terminal: Terminal,
): Promise<number> {
  try {
    const command = findCommand(args);
    if (!command) return answerWithOverview(args, terminal);
    const values = parseOptions(command, args.slice(words(command.name)));
    if (values.help !== undefined) {
      terminal.out(helpOf(command));
      return 0;
    }
    const run = command.prepare(values);
    await run(loadConfig(env), { ...terminal, isTerminal: terminal.isTerminal === true && values.json === undefined });
    return 0;
  } catch (error) {
    terminal.err(describeError(error));
    return 1;
  }
}

function words(name: string): number {
  return name.split(' ').length;
}

/** The longest name counts: `dead-letters purge` is no command, although `dead-letters` is one beside its others. */
function findCommand(args: readonly string[]): RunnableCommand | undefined {
  return COMMANDS.find(({ name }) => {
    if (name !== args.slice(0, words(name)).join(' ')) return false;
    const next = args[words(name)];
    return next === undefined || next.startsWith('-') || !COMMANDS.some((other) => other.name.startsWith(`${name} `));
  });
}

function answerWithOverview(args: readonly string[], terminal: Terminal): number {
  const overview = [
    'npm run --silent admin -- COMMAND [OPTIONS]: administers a running installation.',
    '',
    ...COMMANDS.map(({ name, summary }) => `  ${name.padEnd(21)}${summary}`),
    '',
    'COMMAND --help explains its options and has examples. The service is found by DATABASE_URL or KAFKA_BROKERS, else by DATA_DIR.',
  ].join('\n');
  if (args.includes('--help') || args.includes('-h')) {
    terminal.out(overview);
    return 0;
  }
  terminal.err(args.length === 0 ? overview : `There is no command "${args.join(' ')}".\n\n${overview}`);
  return 1;
}

function parseOptions(command: Command, args: readonly string[]): OptionValues {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { ...command.options, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
      strict: true,
      allowPositionals: false,
    });
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
  } catch (error) {
    const message = errorMessage(error);
    throw new AdminError(`${message}\n\n${helpOf(command)}`);
  }
}

function helpOf({ name, summary, optionsHelp, examples }: Command): string {
  const options = [...optionsHelp, ...COMMON_HELP].map((line) => `  ${line}`);
  const commands = examples.map((example) => `  npm run --silent admin -- ${example}`);
  return [`npm run --silent admin -- ${name}: ${summary}`, '', ...options, '', 'Examples:', ...commands].join('\n');
}

function withPostgres(command: PostgresCommand): RunnableCommand {
  const prepare: RunnableCommand['prepare'] = (values) => {
    const work = command.prepare(values);
    return async (config, terminal) => {
      const pool = createPool({ url: findPostgres(config), name: 'admin', logger: createLogger('silent'), max: 1 });
      try {
        await print(command, await work(pool, config), terminal);
      } finally {
        await pool.end();
      }
    };
  };
  return { ...command, prepare };
}

function withKafka(command: KafkaCommand): RunnableCommand {
  const prepare: RunnableCommand['prepare'] = (values) => {
    const work = command.prepare(values);
    return async (config, terminal) => {
      const { security } = config.kafka;
      const logger = createLogger('silent');
      const kafka = createKafka({ brokers: findBrokers(config), security, clientId: 'admin', logger });
      const report = (line: string) => {
        terminal.err(line);
      };
      const { topicPrefix: prefix } = config.kafka;
      const { siteUrl } = config.upstream;
      await print(
        command,
        await work({ kafka, prefix, siteUrl, matcherShards: config.matcher.shards, report }),
        terminal,
      );
    };
  };
  return { ...command, prepare };
}

function withEngines(command: EnginesCommand): RunnableCommand {
  const prepare: RunnableCommand['prepare'] = (values) => {
    const work = command.prepare(values);
    return async (config, terminal) => {
      const report = (line: string) => {
        terminal.err(line);
      };
      await print(command, await work(config, report), terminal);
    };
  };
  return { ...command, prepare };
}

async function print({ isList }: Command, lines: Lines, { out, isTerminal }: Terminal): Promise<void> {
  if (isList === true && isTerminal === true) {
    const all: object[] = [];
    for await (const line of lines) all.push(line);
    out(table(all, 'none'));
    return;
  }
  for await (const line of lines) out(JSON.stringify(line));
}

function describeError(error: unknown): string {
  if (error instanceof AdminError || error instanceof ConfigError || error instanceof TopicsDiffer)
    return error.message;
  const reason = errorMessage(error);
  if (isKafkaAway(error)) return `Kafka does not answer (${reason}).`;
  if (markedEngine(error) === 'clickhouse' && isClickhouseAway(error)) return `ClickHouse does not answer (${reason}).`;
  if (isPostgresAway(error)) return `Postgres does not answer (${reason || 'connection refused'}).`;
  if (sqlState(error) === UNDEFINED_TABLE) {
    return 'The database has no tables yet: start the service once, or run "migrate".';
  }
  return `The command failed: ${reason}`;
}
