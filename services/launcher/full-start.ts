import { join } from 'node:path';
import { whenAborted } from '../../shared/runtime/abort.ts';
import { DataDirLock } from './engines/data-dir-lock.ts';
import { startEngines } from './engines/embedded-engines.ts';
import type { RunningEngines } from './engines/embedded-engines.ts';
import { removeEndpoints, writeEndpoints } from '../../shared/runtime/endpoints-file.ts';
import type { EngineName } from './engines/engine.ts';
import { endOrphan } from './engines/orphan.ts';
import { StartFault } from './engines/start-fault.ts';
import { delay, systemClock } from '../../shared/runtime/clock.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { banner, readDemoKey } from './banner.ts';
import { claimPorts } from './claim-ports.ts';
import { fullDisk } from './full-disk.ts';
import { startServices } from './services-child.ts';
import type { ServiceAddresses } from './services-child.ts';
import { engineUrls, servicesEnvironment } from './services-environment.ts';
import { startSimulator } from './simulator-child.ts';
import { Supervisor } from './supervisor.ts';

export interface FullStartDeps {
  config: Config;
  env: NodeJS.ProcessEnv;
  /** Aborted by the first SIGTERM or SIGINT; then everything is stopped in order. */
  signal: AbortSignal;
  progress: (line: string) => void;
}

/**
 * Runs a whole installation until the signal aborts. Locks the data directory; starts the engines whose URL is not set,
 * the simulator unless UPSTREAM_CLIENTS names a real upstream, and the services; restarts what ends; stops everything
 * in reverse order.
 *
 * @throws StartFault when it cannot start, or when a process ends too often.
 */
export async function fullStart(options: FullStartDeps): Promise<void> {
  const { config, signal, progress } = options;
  const lock = await DataDirLock.acquire(config.dataDir, { progress, signal });
  const markStopping = () => lock.markStopping();
  signal.addEventListener('abort', markStopping);
  try {
    await runInstallation(options, markStopping);
  } finally {
    signal.removeEventListener('abort', markStopping);
    lock.release();
  }
}

async function runInstallation(options: FullStartDeps, markStopping: () => void): Promise<void> {
  const { config, env, signal, progress } = options;
  const began = performance.now();
  const files = pidFiles(config.dataDir);
  removeEndpoints(config.dataDir);
  await Promise.all([endOrphan(files.services, 'SIGTERM', 10_000), endOrphan(files.simulator, 'SIGTERM', 5_000)]);
  const metricsPort = await claimPorts(config, progress);
  const embedded = enginesToEmbed(config);
  const engines = await startEngines({ dataDir: config.dataDir, env, engines: embedded, progress, signal });
  const { promise: broken, reject: giveUp } = Promise.withResolvers<never>();
  // The supervisor may give up before the promise is awaited.
  broken.catch(() => undefined);
  const supervisor = new Supervisor({
    clock: systemClock,
    wait: delay,
    progress,
    giveUp: (reason) => giveUp(new StartFault(reason)),
  });
  for (const name of embedded) superviseEngine(supervisor, engines, name, config.dataDir);
  try {
    const simulator = config.upstream.clients ? undefined : await superviseSimulator(supervisor, options, engines);
    const urls = engineUrls(config, engines.urls);
    const announce = createReadyHandler(began, options, (addresses) => ({
      pid: process.pid,
      ...addresses,
      ...urls,
      ...(engines.clickhouseReadOnlyUrl === undefined ? {} : { clickhouseReadOnly: engines.clickhouseReadOnlyUrl }),
      ...(simulator === undefined ? {} : { simulator }),
      embedded: [...embedded],
    }));
    const childEnv = servicesEnvironment(config, env, { urls, embedded, simulator, metricsPort });
    const start = () => startServices({ env: childEnv, pidFile: files.services, onReady: announce });
    supervisor.supervise({ name: 'services', kind: 'services', process: await start(), start });
    await Promise.race([broken, whenAborted(signal)]);
    progress('stopping');
  } finally {
    markStopping();
    removeEndpoints(config.dataDir);
    await supervisor.stop();
  }
}

function pidFiles(dataDir: string): { services: string; simulator: string } {
  return { services: join(dataDir, 'run', 'services.pid'), simulator: join(dataDir, 'run', 'simulator.pid') };
}

function enginesToEmbed(config: Config): EngineName[] {
  const names: EngineName[] = [];
  if (config.kafka.brokers === undefined) names.push('kafka');
  if (config.postgresUrl === undefined) names.push('postgres');
  if (config.clickhouseUrl === undefined) names.push('clickhouse');
  return names;
}

function superviseEngine(supervisor: Supervisor, engines: RunningEngines, name: EngineName, dataDir: string): void {
  supervisor.supervise({
    name,
    kind: 'engine',
    process: engines.process(name),
    start: () => engines.restart(name),
    isOptional: name === 'clickhouse',
    externalCause: () => fullDisk([join(dataDir, name), dataDir]),
  });
}

/** Returns the simulator's URL. */
async function superviseSimulator(
  supervisor: Supervisor,
  options: FullStartDeps,
  engines: RunningEngines,
): Promise<string> {
  const { config, env, signal } = options;
  const port = engines.ports.simulator;
  const start = () => startSimulator({ config, env, port, pidFile: pidFiles(config.dataDir).simulator, signal });
  supervisor.supervise({ name: 'simulator', kind: 'simulator', process: await start(), start });
  return `http://127.0.0.1:${port}`;
}

/** Writes endpoints.json each time that the services are ready, and prints the banner the first time. */
function createReadyHandler(
  began: number,
  { config, progress }: FullStartDeps,
  endpoints: (addresses: ServiceAddresses) => Parameters<typeof writeEndpoints>[1],
): (addresses: ServiceAddresses) => void {
  let hasAnnounced = false;
  return (addresses) => {
    writeEndpoints(config.dataDir, endpoints(addresses));
    const baseUrl = config.http.port === 0 ? addresses.api : config.http.baseUrl;
    if (!hasAnnounced) progress(banner(baseUrl, readDemoKey(config.dataDir), (performance.now() - began) / 1000));
    hasAnnounced = true;
  };
}
