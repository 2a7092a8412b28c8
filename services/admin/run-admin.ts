import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { TopicsDiffer } from '../../shared/kafka/topic-admin.ts';
import { unavailableEngine } from '../../shared/runtime/outage-log.ts';
import { sqlState } from '../../shared/postgres/postgres-unavailable.ts';
import { ConfigError, loadConfig } from '../../shared/runtime/config.ts';
import { errorMessage } from '../../shared/runtime/errors.ts';
import { AdminError, Installation } from './command.ts';
import type { Actions, AddCommands, Lines } from './command.ts';

/**
 * The files of commands by the nouns that they add, in the order of the overview. Only the file of the noun that was
 * typed is loaded: all of them take three times as long, because some need the tables of matching.
 */
const FILES: readonly (readonly [nouns: readonly string[], load: () => Promise<{ addCommands: AddCommands }>])[] = [
  [['account'], () => import('./account-commands.ts')],
  [['key', 'grant'], () => import('./key-commands.ts')],
  [['monitor', 'deliveries'], () => import('./monitor-commands.ts')],
  [['ledger'], () => import('./ledger-commands.ts')],
  [['secrets'], () => import('./reseal-command.ts')],
  [['gaps', 'coverage'], () => import('./coverage-commands.ts')],
  [['dead-letters'], () => import('./dead-letter-commands.ts')],
  [['topics', 'matchers'], () => import('./topic-commands.ts')],
  [['status'], () => import('./status-command.ts')],
  [['migrate'], () => import('./migrate-command.ts')],
  [['restore', 'archive'], () => import('./restore-commands.ts')],
];

interface Terminal {
  /** Whether `out` is a terminal: it gets tables, unless --json is given. */
  isTerminal?: boolean;
  out: (line: string) => void;
  err: (line: string) => void;
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
  const program = createProgram(terminal);
  const actions = createActions(program, env, terminal);
  const typed = FILES.filter(([nouns]) => nouns.includes(args[0] ?? ''));
  try {
    for (const [, load] of typed.length > 0 ? typed : FILES) (await load()).addCommands(program, actions);
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    terminal.err(describeError(error));
    return 1;
  }
}

function createProgram({ out, err }: Terminal): Command {
  return new Command('npm run --silent admin --')
    .description(
      'Administers a running installation, found by DATABASE_URL or KAFKA_BROKERS, or else by DATA_DIR. Run COMMAND --help for the options of a command and examples.',
    )
    .version(packageJson.version)
    .option('-j, --json', 'print JSON lines instead of tables on a terminal')
    .configureHelp({
      showGlobalOptions: true,
      // The overview lists every command. Nouns stay among them, because misspelt ones are looked up here.
      visibleCommands: ({ commands }) => commands.flatMap((command) => [command, ...command.commands]),
      subcommandTerm: (command) =>
        command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name(),
    })
    .configureOutput({
      writeOut: (text) => {
        out(text.replace(/\n$/, ''));
      },
      writeErr: (text) => {
        err(text.replace(/\n$/, ''));
      },
    })
    .exitOverride();
}

function createActions(program: Command, env: Record<string, string | undefined>, terminal: Terminal): Actions {
  const printedBy =
    (print: (lines: Lines) => Promise<void>): Actions['lines'] =>
    (work) =>
    async (options) => {
      const installation = new Installation(loadConfig(env), terminal.err);
      try {
        await print(await work(installation, options));
      } finally {
        await installation.close();
      }
    };
  const printLines = async (lines: Lines) => {
    for await (const line of lines) terminal.out(JSON.stringify(line));
  };
  const printTable = async (lines: Lines) => {
    if (terminal.isTerminal !== true || program.getOptionValue('json') !== undefined) return printLines(lines);
    const all: object[] = [];
    for await (const line of lines) all.push(line);
    terminal.out(table(all));
  };
  return { lines: printedBy(printLines), table: printedBy(printTable) };
}

const UNDEFINED_TABLE = '42P01';
const ENGINES = { kafka: 'Kafka', postgres: 'Postgres', clickhouse: 'ClickHouse' };

function describeError(error: unknown): string {
  if (error instanceof AdminError || error instanceof ConfigError || error instanceof TopicsDiffer)
    return error.message;
  const reason = errorMessage(error);
  const engine = unavailableEngine(error);
  if (engine !== undefined) return `${ENGINES[engine]} is not responding (${reason || 'connection refused'}).`;
  if (sqlState(error) === UNDEFINED_TABLE) {
    return 'The database has no tables yet. Start the service once, or run "migrate".';
  }
  return `The command failed: ${reason}`;
}

const WIDEST = 60;

/** Lines as a table for a terminal: a column for each field, cut at 60 characters. */
function table(lines: readonly object[]): string {
  if (lines.length === 0) return 'none';
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
