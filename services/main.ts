import { StartFault } from './launcher/engines/start-fault.ts';
import { ConfigError, loadConfig } from '../shared/runtime/config.ts';
import { fullStart } from './launcher/full-start.ts';
import { joiningStart } from './launcher/joining-start.ts';
import { startWarnings } from './launcher/start-warnings.ts';

// `npm start` runs a whole installation. `npm start -- matcher recorder` runs these services beside a running one.
// Files that this process and its children create are accessible only to the current user.
process.umask(0o077);

const stopping = new AbortController();
const stop = () => stopping.abort();
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
// The installation keeps running when the reader of its output is gone.
process.stdout.on('error', () => undefined);

try {
  const config = loadConfig(process.env);
  for (const warning of startWarnings(config)) console.error(`WARNING: ${warning}`);
  const services = process.argv.slice(2);
  if (services.length > 0) joiningStart(services, config, process.env);
  await fullStart({ config, env: process.env, signal: stopping.signal, progress: (line) => console.log(line) });
  process.exit(0);
} catch (error) {
  if (stopping.signal.aborted && error instanceof StartFault) process.exit(0);
  const isPlain = error instanceof StartFault || error instanceof ConfigError;
  console.error(isPlain ? error.message : error);
  process.exit(1);
}
