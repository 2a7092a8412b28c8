import { parseArgs } from 'node:util';
import { createPool } from '../../shared/postgres/pool.ts';
import { isPostgresAway, sqlState } from '../../shared/postgres/postgres-away.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { ConfigError, loadConfig } from '../../shared/runtime/config.ts';
import { errorMessage } from '../../shared/runtime/errors.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import { ACCOUNT_CREATE, ACCOUNT_LIST, ACCOUNT_SHOW } from './account-commands.ts';
import { ACCOUNT_EXPORT } from './account-export.ts';
import { ACCOUNT_DELETE, ACCOUNT_FREEZE, ACCOUNT_UNFREEZE } from './account-state-commands.ts';
import { ACCOUNT_GRANT, ACCOUNT_PACK, ACCOUNT_REFUND } from './credit-commands.ts';
import { GRANT_LIST, GRANT_REVOKE } from './grant-commands.ts';
import { KEY_CREATE, KEY_LIST, KEY_REVOKE } from './key-commands.ts';
import { LEDGER_CHECK } from './ledger-check-command.ts';
import { AdminError } from './admin-error.ts';
import type { Command, OptionValues } from './command.ts';
import { findPostgres } from './find-postgres.ts';

const COMMANDS: readonly Command[] = [
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
  KEY_CREATE,
  KEY_LIST,
  KEY_REVOKE,
  GRANT_LIST,
  GRANT_REVOKE,
  LEDGER_CHECK,
];
const UNDEFINED_TABLE = '42P01';

export interface Terminal {
  out: (line: string) => void;
  err: (line: string) => void;
}

/**
 * Runs one command. Its results are JSON lines on `out`; everything for people goes to `err`, help that was asked for
 * to `out`.
 *
 * @returns the exit code: 0, or 1 when the command was wrong or could not be done
 */
export async function runAdmin(
  args: readonly string[],
  env: Record<string, string | undefined>,
  terminal: Terminal,
): Promise<number> {
  try {
    const command = COMMANDS.find(({ name }) => name === args.slice(0, 2).join(' '));
    if (!command) return answerWithoutCommand(args, terminal);
    const values = parseOptions(command, args.slice(2));
    if (values.help !== undefined) {
      terminal.out(helpOf(command));
      return 0;
    }
    const work = command.prepare(values);
    const config = loadConfig(env);
    await withPool(findPostgres(config), async (pool) => {
      for await (const line of await work(pool, config)) terminal.out(JSON.stringify(line));
    });
    return 0;
  } catch (error) {
    terminal.err(sentenceOf(error));
    return 1;
  }
}

function answerWithoutCommand(args: readonly string[], terminal: Terminal): number {
  const overview = [
    'npm run --silent admin -- COMMAND [OPTIONS]: administers a running installation.',
    '',
    ...COMMANDS.map(({ name, summary }) => `  ${name.padEnd(18)}${summary}`),
    '',
    'COMMAND --help explains its options. The service is found by DATABASE_URL, else by DATA_DIR.',
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
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
      strict: true,
      allowPositionals: false,
    });
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
  } catch (error) {
    const message = errorMessage(error);
    throw new AdminError(`${message}\n\n${helpOf(command)}`);
  }
}

function helpOf({ name, summary, optionsHelp }: Command): string {
  const options = [...optionsHelp, '--help                 this text'].map((line) => `  ${line}`);
  return [`npm run --silent admin -- ${name}: ${summary}`, '', ...options].join('\n');
}

async function withPool(url: string, work: (pool: Pool) => Promise<void>): Promise<void> {
  const pool = createPool({ url, name: 'admin', logger: createLogger('silent'), max: 1 });
  try {
    await work(pool);
  } finally {
    await pool.end();
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof AdminError || error instanceof ConfigError) return error.message;
  const reason = errorMessage(error);
  if (isPostgresAway(error)) return `The service's database does not answer (${reason || 'connection refused'}).`;
  if (sqlState(error) === UNDEFINED_TABLE) {
    return 'The database has no tables of this service yet: start the service once.';
  }
  return `The command failed: ${reason}`;
}
