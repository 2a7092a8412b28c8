/** Administers a running installation: `npm run --silent admin -- --help`. */
import { errorCode } from '../../shared/runtime/errors.ts';
import { runAdmin } from './run-admin.ts';

// The reader may close the pipe early, as `head` does.
process.stdout.on('error', (error) => {
  if (errorCode(error) !== 'EPIPE') throw error;
  process.exit(0);
});

// As the first process of a container it would ignore the signal.
process.once('SIGTERM', () => process.exit(143));

process.exitCode = await runAdmin(process.argv.slice(2), process.env, {
  isTerminal: process.stdout.isTTY,
  out: (line) => console.log(line),
  err: (line) => console.error(line),
});
