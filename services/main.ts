import { StartFault } from './launcher/engines/engine.ts';
import { ConfigError, loadConfig } from '../shared/runtime/config.ts';
import { printableLines } from '../shared/runtime/printable.ts';
import { checkReplayFiles } from './crawler/replay/replay-plan.ts';
import { fullStart } from './launcher/full-start.ts';
import { joiningStart } from './launcher/joining-start.ts';
import { createLaunchOutput } from './launcher/launch-output.ts';
import { startWarnings } from './launcher/start-warnings.ts';
import { chooseServices, USAGE } from './service-names.ts';

// `npm start` runs a whole installation. `npm start -- matcher recorder` runs these services beside a running one.
// Files that this process and its children create are accessible only to the current user.
process.umask(0o077);

const stopping = new AbortController();
const stop = () => stopping.abort();
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
// The terminal was closed.
process.on('SIGHUP', stop);
// The installation keeps running after the reader of its output has exited.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

if (process.argv.includes('--help')) {
  console.log(USAGE);
  process.exit(0);
}

try {
  const config = loadConfig(process.env);
  const services = chooseServices(process.argv.slice(2));
  if (services.includes('crawler')) checkReplayFiles(config.crawlSources);
  const output = createLaunchOutput({
    format: config.logFormat,
    level: config.logLevel,
    out: process.stdout,
    err: (text) => process.stderr.write(text),
  });
  for (const warning of startWarnings(config)) output.warn(warning);
  const start = { config, env: process.env, signal: stopping.signal, output };
  if (process.argv.length > 2) await joiningStart(services, start);
  await fullStart(start);
  process.exit(0);
} catch (error) {
  if (stopping.signal.aborted && error instanceof StartFault) process.exit(0);
  const isPlain = error instanceof StartFault || error instanceof ConfigError;
  console.error(isPlain ? printableLines(error.message) : error);
  process.exit(1);
}
