import { resolve } from 'node:path';
import { inspect, parseArgs } from 'node:util';
import { ConfigError, loadConfig } from '../../shared/runtime/config.ts';
import { errorMessage } from '../../shared/runtime/errors.ts';
import { backUp, restore } from './backup.ts';
import { StartFault } from './engines/engine.ts';

// `npm run backup` copies the embedded PostgreSQL of a running installation, or restores such a copy.
process.umask(0o077);

const HELP = `npm run --silent backup -- --to FOLDER
npm run --silent backup -- --restore FOLDER

  --to FOLDER        copies the embedded PostgreSQL of the installation that runs on DATA_DIR into a new folder
  --restore FOLDER   puts such a copy into DATA_DIR, which must be empty; then npm start goes on from there

What the copy holds and what a restoration loses: docs/operate/backup.md. For servers of your own: the same file.`;

const OPTIONS = {
  to: { type: 'string' },
  restore: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

try {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help) {
    process.stdout.write(`${HELP}\n`);
    process.exit(0);
  }
  if ((values.to === undefined) === (values.restore === undefined)) throw new StartFault(HELP);
  const config = loadConfig(process.env);
  const done =
    values.to === undefined
      ? await restore(config, resolve(values.restore ?? ''), process.env)
      : await backUp(config, resolve(values.to));
  process.stdout.write(`${JSON.stringify(done)}\n`);
} catch (error) {
  const isPlain =
    error instanceof StartFault || error instanceof ConfigError || (error instanceof TypeError && 'code' in error);
  process.stderr.write(`${isPlain ? errorMessage(error) : inspect(error)}\n`);
  process.exitCode = 1;
}
