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
import { table } from './table.ts';
import { AdminError } from './admin-error.ts';
import type { Command, EnginesCommand, KafkaCommand, Lines, OptionValues, PostgresCommand } from './command.ts';
import { findBrokers, findPostgres } from './find-engines.ts';

type LoadCommands = () => Promise<readonly RunnableCommand[]>;

/**
 * By the first word of their names, in the order of the overview. Only the words that were typed are loaded: all of
 * them take three times as long, because some need clients of the engines and the tables of matching.
 */
const GROUPS: ReadonlyMap<string, LoadCommands> = new Map<string, LoadCommands>([
  ['account', loadAccountCommands],
  [
    'key',
    async () => {
      const { KEY_CREATE, KEY_LIST, KEY_REVOKE } = await import('./key-commands.ts');
      return [KEY_CREATE, KEY_LIST, KEY_REVOKE].map(withPostgres);
    },
  ],
  [
    'grant',
    async () => {
      const { GRANT_LIST, GRANT_REVOKE } = await import('./grant-commands.ts');
      return [GRANT_LIST, GRANT_REVOKE].map(withPostgres);
    },
  ],
  [
    'monitor',
    async () => {
      const { MONITOR_LIST, MONITOR_PAUSE, MONITOR_RESET_DAY, MONITOR_RESUME, MONITOR_SHOW } =
        await import('./monitors/monitor-commands.ts');
      const { MONITOR_TEST } = await import('./monitors/monitor-test-command.ts');
      const states = [MONITOR_PAUSE, MONITOR_RESUME, MONITOR_RESET_DAY];
      return [MONITOR_LIST, MONITOR_SHOW, ...states, MONITOR_TEST].map(withPostgres);
    },
  ],
  [
    'deliveries',
    async () => {
      const { DELIVERIES_FAILED, DELIVERIES_PENDING } = await import('./monitors/delivery-commands.ts');
      const { DELIVERIES_RETRY } = await import('./monitors/delivery-retry-command.ts');
      return [DELIVERIES_PENDING, DELIVERIES_FAILED, DELIVERIES_RETRY].map(withPostgres);
    },
  ],
  [
    'ledger',
    async () => {
      const { LEDGER_CHECK, LEDGER_CORRECT } = await import('./ledger-commands.ts');
      return [LEDGER_CHECK, LEDGER_CORRECT].map(withPostgres);
    },
  ],
  ['secrets', async () => [withPostgres((await import('./secrets/secrets-reseal-command.ts')).SECRETS_RESEAL)]],
  ['gaps', async () => [withPostgres((await import('./gap-commands.ts')).GAPS)]],
  ['coverage', async () => [withPostgres((await import('./coverage-commands.ts')).COVERAGE)]],
  [
    'dead-letters',
    async () => {
      const { DEAD_LETTERS_COUNT, DEAD_LETTERS_LIST, DEAD_LETTERS_REPLAY, DEAD_LETTERS_SET_ASIDE } =
        await import('./dead-letter-commands.ts');
      return [DEAD_LETTERS_LIST, DEAD_LETTERS_REPLAY, DEAD_LETTERS_SET_ASIDE, DEAD_LETTERS_COUNT].map(withKafka);
    },
  ],
  [
    'topics',
    async () => {
      const { TOPICS_LIST, TOPICS_RAISE } = await import('./topic-commands.ts');
      return [TOPICS_LIST, TOPICS_RAISE].map(withKafka);
    },
  ],
  ['matchers', async () => [withKafka((await import('./matcher-commands.ts')).MATCHERS_SHARE_OUT)]],
  ['status', async () => [withEngines((await import('./status/status-command.ts')).STATUS)]],
  ['migrate', async () => [withEngines((await import('./migrate-command.ts')).MIGRATE)]],
  ['restore', async () => [withEngines((await import('./restoring/restore-finish-command.ts')).RESTORE_FINISH)]],
  ['archive', async () => [withEngines((await import('./restoring/archive-rebuild-command.ts')).ARCHIVE_REBUILD)]],
]);

async function loadAccountCommands(): Promise<readonly RunnableCommand[]> {
  const { ACCOUNT_CREATE, ACCOUNT_LIST, ACCOUNT_SHOW } = await import('./accounts/account-commands.ts');
  const { ACCOUNT_GRANT, ACCOUNT_PACK, ACCOUNT_REFUND } = await import('./credit-commands.ts');
  const { ACCOUNT_DELETE, ACCOUNT_FREEZE, ACCOUNT_UNFREEZE } = await import('./accounts/account-state-commands.ts');
  const { ACCOUNT_EXPORT } = await import('./accounts/account-export.ts');
  const { ACCOUNT_SIGN_IN_LINK } = await import('./accounts/sign-in-link-command.ts');
  const credits = [ACCOUNT_GRANT, ACCOUNT_PACK, ACCOUNT_REFUND];
  const states = [ACCOUNT_FREEZE, ACCOUNT_UNFREEZE, ACCOUNT_DELETE];
  return [ACCOUNT_CREATE, ACCOUNT_SHOW, ACCOUNT_LIST, ...credits, ...states, ACCOUNT_EXPORT, ACCOUNT_SIGN_IN_LINK].map(
    withPostgres,
  );
}

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
    const command = await findCommand(args);
    if (!command) return await answerWithOverview(args, terminal);
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
async function findCommand(args: readonly string[]): Promise<RunnableCommand | undefined> {
  const commands = (await GROUPS.get(args[0] ?? '')?.()) ?? [];
  return commands.find(({ name }) => {
    if (name !== args.slice(0, words(name)).join(' ')) return false;
    const next = args[words(name)];
    return next === undefined || next.startsWith('-') || !commands.some((other) => other.name.startsWith(`${name} `));
  });
}

async function answerWithOverview(args: readonly string[], terminal: Terminal): Promise<number> {
  const commands = (await Promise.all([...GROUPS.values()].map((load) => load()))).flat();
  const overview = [
    'npm run --silent admin -- COMMAND [OPTIONS]: administers a running installation.',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(24)}${summary}`),
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
