/** Administers a running installation: `npm run --silent admin -- --help`. */
import { runAdmin } from './run-admin.ts';

process.exitCode = await runAdmin(process.argv.slice(2), process.env, {
  isTerminal: process.stdout.isTTY,
  out: (line) => console.log(line),
  err: (line) => console.error(line),
});
