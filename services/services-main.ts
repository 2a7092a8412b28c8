/** Runs all services, or those named as arguments, as the child of main.ts, which passes the engines' addresses. */
import { once } from 'node:events';
import { TopicsDiffer } from '../shared/kafka/topic-admin.ts';
import { ConfigError, loadConfig } from '../shared/runtime/config.ts';
import type { Config } from '../shared/runtime/config.ts';
import { Lifecycle, releaseMemory } from '../shared/runtime/lifecycle.ts';
import { createLogger } from '../shared/runtime/logger.ts';
import { logFormatOf, prettyLog } from '../shared/runtime/pretty-log.ts';
import { runServices } from './run-services.ts';
import { chooseServices } from './service-names.ts';

function loadConfigOrExit(): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

const config = loadConfigOrExit();
const isPretty = logFormatOf(config.logFormat, process.stdout) === 'pretty';
// The services keep running after the reader of their output has exited.
if (isPretty) process.stdout.on('error', () => undefined);
const logger = createLogger(config.logLevel, isPretty ? prettyLog(process.stdout) : undefined);
const lifecycle = new Lifecycle(logger);

// An unexpected error ends the process: all state in memory can be rebuilt from Kafka and Postgres.
const fatal = (error: unknown) => {
  if (error instanceof ConfigError || error instanceof TopicsDiffer) {
    void endWith(error.message);
    return;
  }
  logger.fatal({ err: error }, 'unexpected error; the process ends');
  process.exit(1);
};
process.on('uncaughtException', fatal);
process.on('unhandledRejection', fatal);

/** A start with more than this, as with very many monitors, does not wait for its garbage to be collected. */
const SMALL_HEAP_BYTES = 200 * 1024 * 1024;

/** Sends the addresses to the parent and waits until it has stored them. A joining process has no parent. */
async function announce(addresses: { api: string; metrics: string }): Promise<void> {
  // Modules and tables leave a third of the memory as garbage, which V8 would collect only after minutes without load.
  releaseMemory(SMALL_HEAP_BYTES);
  if (process.send === undefined) return;
  const stored = once(process, 'message', { signal: stopping.signal });
  process.send({ type: 'ready', ...addresses });
  await stored.catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
}

/** A setting is wrong: one message, to the parent if there is one, which then starts nothing again. */
async function endWith(message: string): Promise<never> {
  if (process.send === undefined) process.stderr.write(`${message}\n`);
  else await new Promise((resolve) => process.send!({ type: 'fault', message }, resolve));
  process.exit(1);
}

const stopping = new AbortController();
const stop = () => {
  if (stopping.signal.aborted) return;
  stopping.abort();
  void lifecycle.stop().then((clean) => process.exit(clean ? 0 : 1));
};
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
// The terminal of a joining process was closed.
process.on('SIGHUP', stop);
// The parent died: stop as if it had sent a signal.
process.on('disconnect', stop);

try {
  const services = chooseServices(process.argv.slice(2));
  const { signal } = stopping;
  const ownsDataDir = process.send !== undefined;
  await runServices({ config, services, lifecycle, logger, fatal, ownsDataDir, signal, announce });
} catch (error) {
  if (!stopping.signal.aborted) fatal(error);
}
