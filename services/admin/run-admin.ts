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
import { AdminError } from './command.ts';
import type {
  Command,
  CommandOf,
  EnginesCommand,
  KafkaCommand,
  Lines,
  OptionValues,
  PostgresCommand,
  Report,
} from './command.ts';
import { findBrokers, findPostgres } from './find-engines.ts';

type LoadCommands = () => Promise<readonly RunnableCommand[]>;

/**
 * By the first word of their names, in the order of the overview. Only the words that were typed are loaded: all of
 * them take three times as long, because some need clients of the engines and the tables of matching.
 */
const GROUPS: ReadonlyMap<string, LoadCommands> = new Map([
  group(
    'account',
    withPostgres,
    () => import('./accounts/account-commands.ts'),
    () => import('./credit-commands.ts'),
  ),
  group('key', withPostgres, () => import('./key-commands.ts')),
  group('grant', withPostgres, () => import('./key-commands.ts')),
  group('monitor', withPostgres, () => import('./monitors/monitor-commands.ts')),
  group('deliveries', withPostgres, () => import('./monitors/delivery-commands.ts')),
  group('ledger', withPostgres, () => import('./ledger-commands.ts')),
  group('secrets', withPostgres, () => import('./secrets/reseal.ts')),
  group('gaps', withPostgres, () => import('./coverage-commands.ts')),
  group('coverage', withPostgres, () => import('./coverage-commands.ts')),
  group('dead-letters', withKafka, () => import('./dead-letter-commands.ts')),
  group('topics', withKafka, () => import('./topic-commands.ts')),
  group('matchers', withKafka, () => import('./topic-commands.ts')),
  group('status', withEngines, () => import('./status/measure-status.ts')),
  group('migrate', withEngines, () => import('./migrate-command.ts')),
  group('restore', withEngines, () => import('./restoring/restore-finish-command.ts')),
  group('archive', withEngines, () => import('./restoring/rebuild-archive.ts')),
]);

function group<C extends Command>(
  word: string,
  bind: (command: C) => RunnableCommand,
  ...loads: readonly (() => Promise<{ COMMANDS: readonly C[] }>)[]
): [string, LoadCommands] {
  const load = async () => {
    const commands = (await Promise.all(loads.map((one) => one()))).flatMap(({ COMMANDS }) => COMMANDS);
    return commands.filter(({ name }) => name.split(' ')[0] === word).map(bind);
  };
  return [word, load];
}

const COMMON_HELP = [
  '--json                 JSON lines on a terminal, too, where lists are tables',
  '--help                 print this text',
];
const UNDEFINED_TABLE = '42P01';

interface Terminal {
  /** Whether `out` is a terminal: it gets tables, unless --json is given. */
  isTerminal?: boolean;
  out: (line: string) => void;
  err: (line: string) => void;
}

/** A command that connects to its engine, runs, prints its lines and disconnects. */
type RunnableCommand = CommandOf<(config: Config, terminal: Terminal) => Promise<void>>;

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
  return bound(command, async (work, config, { print }) => {
    const pool = createPool({ url: findPostgres(config), name: 'admin', logger: createLogger('silent'), max: 1 });
    try {
      await print(await work(pool, config));
    } finally {
      await pool.end();
    }
  });
}

function withKafka(command: KafkaCommand): RunnableCommand {
  return bound(command, async (work, config, { print, report }) => {
    const { security, topicPrefix: prefix } = config.kafka;
    const logger = createLogger('silent');
    const kafka = createKafka({ brokers: findBrokers(config), security, clientId: 'admin', logger });
    const { siteUrl } = config.upstream;
    await print(await work({ kafka, prefix, siteUrl, matcherShards: config.matcher.shards, report }));
  });
}

function withEngines(command: EnginesCommand): RunnableCommand {
  return bound(command, async (work, config, { print, report }) => print(await work(config, report)));
}

function bound<Work>(
  command: CommandOf<Work>,
  run: (work: Work, config: Config, to: { print: (lines: Lines) => Promise<void>; report: Report }) => Promise<void>,
): RunnableCommand {
  const prepare: RunnableCommand['prepare'] = (values) => {
    const work = command.prepare(values);
    return (config, terminal) =>
      run(work, config, { print: (lines) => print(command, lines, terminal), report: terminal.err });
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

const WIDEST = 60;

/** Lines as a table for a terminal: a column for each field, cut at 60 characters; `none` for no lines. */
function table(lines: readonly object[], none: string): string {
  if (lines.length === 0) return none;
  const fields = [...new Set(lines.flatMap((line) => Object.keys(line)))];
  const rows = lines.map((line) => fields.map((field) => cell((line as Record<string, unknown>)[field])));
  const widths = fields.map((field, column) => Math.max(field.length, ...rows.map((row) => row[column]!.length)));
  const toText = (cells: readonly string[]) =>
    cells
      .map((text, column) => text.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return [toText(fields), ...rows.map(toText)].join('\n');
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '-';
  const text = value instanceof Date ? value.toISOString() : typeof value === 'string' ? value : JSON.stringify(value);
  // Control characters of stored texts must not reach the terminal.
  const printable = text.replace(/\p{C}/gu, '\u{fffd}');
  return printable.length > WIDEST ? `${printable.slice(0, WIDEST - 1)}…` : printable;
}
