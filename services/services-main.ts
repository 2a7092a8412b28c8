/**
 * The services' child process: all services, or those named as arguments. Its parent (main.ts) hands it the addresses
 * of the engines in the environment.
 */
import { once } from 'node:events';
import { ConfigError, loadConfig } from '../shared/runtime/config.ts';
import type { Config } from '../shared/runtime/config.ts';
import { Lifecycle } from '../shared/runtime/lifecycle.ts';
import { createLogger } from '../shared/runtime/logger.ts';
import { chooseServices, runServices } from './run-services.ts';

function configuration(): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

const config = configuration();
const logger = createLogger(config.logLevel);
const lifecycle = new Lifecycle(logger);

// A broken process is a dead process: everything it held in memory can be had again from Kafka and Postgres.
const fatal = (error: unknown) => {
  logger.fatal({ err: error }, 'unexpected error, the process ends');
  process.exit(1);
};
process.on('uncaughtException', fatal);
process.on('unhandledRejection', fatal);

/** The parent writes the addresses down and answers. A joining process has none to tell. */
async function announce(addresses: { api: string; metrics: string }): Promise<void> {
  if (process.send === undefined) return;
  const noted = once(process, 'message', { signal: stopping.signal });
  process.send({ type: 'ready', ...addresses });
  await noted.catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
}

const stopping = new AbortController();
const stop = () => {
  if (stopping.signal.aborted) return;
  stopping.abort();
  void lifecycle.stop().then((clean) => process.exit(clean ? 0 : 1));
};
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
// The parent died without a word: stop as if it had asked.
process.on('disconnect', stop);

try {
  const services = chooseServices(process.argv.slice(2));
  const { signal } = stopping;
  const ownsDataDir = process.send !== undefined;
  await runServices({ config, services, lifecycle, logger, fatal, ownsDataDir, signal, announce });
} catch (error) {
  if (!stopping.signal.aborted) fatal(error);
}
