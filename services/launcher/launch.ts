import { inspect } from 'node:util';
import { checkReplayFiles } from '../crawler/replay/replay-plan.ts';
import { ConfigError, loadConfig } from '../../shared/runtime/config.ts';
import { chooseServices } from '../service-names.ts';
import { StartFault } from './engines/engine.ts';
import { fullStart } from './full-start.ts';
import { joiningStart } from './joining-start.ts';
import { createLaunchOutput } from './launch-output.ts';
import { startWarnings } from './start-warnings.ts';

/** Starts an installation, or the named services beside a running one, and resolves with the exit code. */
export async function launch(names: readonly string[]): Promise<number> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // The installation keeps running after the reader of its output has exited.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  try {
    // The services, which write to the same terminal, follow.
    process.env.LOG_FORMAT ||= process.stdout.isTTY ? 'pretty' : 'json';
    const config = loadConfig(process.env);
    const services = chooseServices(names);
    if (services.includes('crawler')) checkReplayFiles(config.crawlSources);
    const output = createLaunchOutput({
      format: config.logFormat,
      level: config.logLevel,
      out: (text) => process.stdout.write(text),
      err: (text) => process.stderr.write(text),
    });
    for (const warning of startWarnings(config)) output.warn(warning);
    const start = { config, env: process.env, signal: stopping.signal, output };
    if (names.length > 0) await joiningStart(services, start);
    await fullStart(start);
    return 0;
  } catch (error) {
    if (stopping.signal.aborted && error instanceof StartFault) return 0;
    const isPlain = error instanceof StartFault || error instanceof ConfigError;
    process.stderr.write(`${isPlain ? error.message : inspect(error)}\n`);
    return 1;
  }
}
