import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pRetry from 'p-retry';
import { delay, systemClock } from '../../shared/runtime/clock.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { diskSpace, inMegabytes, isFull } from '../watch-disks.ts';
import { removeEndpoints, writeEndpoints } from '../../shared/runtime/endpoints-file.ts';
import { untilAborted } from '../../shared/runtime/errors.ts';
import { releaseMemory } from '../../shared/runtime/lifecycle.ts';
import { startServices, startSimulator } from './child-processes.ts';
import type { ServiceAddresses } from './child-processes.ts';
import { DataDirLock } from './engines/data-dir-lock.ts';
import { startEngines } from './engines/embedded-engines.ts';
import type { RunningEngines } from './engines/embedded-engines.ts';
import { StartFault } from './engines/engine.ts';
import type { EngineName } from './engines/engine.ts';
import { endOrphan } from './engines/owned-process.ts';
import { claimPorts } from './engines/ports.ts';
import type { LaunchOutput } from './launch-output.ts';
import {
  engineUrls,
  offersTrialPayments,
  paymentSimulatorEnvironment,
  servicesEnvironment,
} from './services-environment.ts';
import { Supervisor } from './supervisor.ts';

export interface StartDeps {
  config: Config;
  env: NodeJS.ProcessEnv;
  /** Aborted by the first SIGTERM, SIGINT or SIGHUP; then everything is stopped in order. */
  signal: AbortSignal;
  output: LaunchOutput;
}

/** Checks the named servers, if any. Loading the clients takes longer than the rest of this process's start. */
export async function checkNamedServers({ config, output }: Pick<StartDeps, 'config' | 'output'>): Promise<void> {
  if ((config.kafka.brokers ?? config.postgresUrl ?? config.clickhouseUrl) === undefined) return;
  const { checkServers } = await import('./check-servers.ts');
  await checkServers(config, output.warn);
}

const WRITE_AGAIN_MS = 1_000;

/**
 * Runs a whole installation until the signal aborts.
 *
 * @throws StartFault when it cannot start, or when a process ends too often
 */
export async function fullStart(options: StartDeps): Promise<void> {
  const { config, signal, output } = options;
  const lock = await DataDirLock.acquire(config.dataDir, { progress: output.progress, signal });
  const markStopping = () => lock.markStopping();
  signal.addEventListener('abort', markStopping);
  try {
    await runInstallation(options, markStopping);
  } finally {
    signal.removeEventListener('abort', markStopping);
    lock.release();
  }
}

async function runInstallation(options: StartDeps, markStopping: () => void): Promise<void> {
  const { config, env, signal, output } = options;
  const { progress, note, step } = output;
  const began = performance.now();
  const files = pidFiles(config.dataDir);
  removeEndpoints(config.dataDir);
  step('stopping what an earlier start has left running');
  await Promise.all([
    endOrphan(files.services, 'SIGTERM', 10_000 + config.http.drainMs),
    endOrphan(files.simulator, 'SIGTERM', 5_000),
  ]);
  const metricsPort = await claimPorts(config.http, note);
  step('asking the named servers');
  await checkNamedServers(options);
  const embedded = enginesToEmbed(config);
  if (embedded.length > 0) step(`starting ${inWords(embedded)}`);
  const engines = await startEngines({ dataDir: config.dataDir, env, engines: embedded, progress, note, signal });
  const { promise: broken, reject: giveUp } = Promise.withResolvers<never>();
  // The supervisor may give up before the promise is awaited.
  broken.catch(() => undefined);
  const supervisor = new Supervisor({
    clock: systemClock,
    wait: delay,
    ...output,
    giveUp: (reason) => giveUp(new StartFault(reason)),
  });
  for (const name of embedded) superviseEngine(supervisor, engines, name, config.dataDir);
  try {
    if (!config.upstream.clients) step('starting the simulated forum');
    const simulator = config.upstream.clients ? undefined : await superviseSimulator(supervisor, options, engines);
    const parts = {
      ...engineUrls(config, engines.urls),
      clickhouseReadOnly: engines.clickhouseReadOnlyUrl,
      simulator,
      trialPayments: offersTrialPayments(config) || undefined,
      embedded,
    };
    const ready = createReadyHandler(began, options, (addresses) => ({ pid: process.pid, ...addresses, ...parts }));
    const externalCause = () => fullDisk([config.dataDir]);
    const own = servicesEnvironment(config, parts);
    const childEnv = {
      ...env,
      ...(output.isPretty ? { LOG_LEVEL: env.LOG_LEVEL || 'warn' } : {}),
      DATA_DIR: config.dataDir,
      ...own,
      METRICS_PORT: String(metricsPort),
    };
    const start = () => {
      const onFault = (message: string) => {
        // A later start meets a setting that has worked: what changed may change back.
        if (ready.hasAnnounced()) output.warn(message);
        else giveUp(new StartFault(message));
      };
      const { drainMs } = config.http;
      return startServices({ env: childEnv, pidFile: files.services, drainMs, onReady: ready.announce, onFault });
    };
    step('starting the services');
    supervisor.supervise({ name: 'services', kind: 'services', process: await start(), start, externalCause });
    await untilAborted(broken, signal);
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

const ENGINE_NAMES: Record<EngineName, string> = { kafka: 'Kafka', postgres: 'PostgreSQL', clickhouse: 'ClickHouse' };

function inWords(engines: readonly EngineName[]): string {
  return new Intl.ListFormat('en-GB').format(engines.map((name) => ENGINE_NAMES[name]));
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

async function superviseSimulator(
  supervisor: Supervisor,
  options: StartDeps,
  engines: RunningEngines,
): Promise<string> {
  const { config, env, signal } = options;
  const port = engines.ports.simulator;
  const payments = offersTrialPayments(config) ? paymentSimulatorEnvironment(config) : {};
  const childEnv = { ...env, ...payments };
  const start = () =>
    startSimulator({ config, env: childEnv, port, pidFile: pidFiles(config.dataDir).simulator, signal });
  const externalCause = () => fullDisk([config.dataDir]);
  supervisor.supervise({ name: 'simulator', kind: 'simulator', process: await start(), start, externalCause });
  return `http://127.0.0.1:${port}`;
}

/** Writes endpoints.json each time that the services are ready, and prints where everything is the first time. */
function createReadyHandler(
  began: number,
  { config, output, signal }: StartDeps,
  endpoints: (addresses: ServiceAddresses) => Parameters<typeof writeEndpoints>[1],
): { announce: (addresses: ServiceAddresses) => Promise<void>; hasAnnounced: () => boolean } {
  let hasAnnounced = false;
  const announce = async (addresses: ServiceAddresses) => {
    // Repeated where it fails, as on a full disk.
    await pRetry(async () => writeEndpoints(config.dataDir, endpoints(addresses)), {
      ...{ retries: Infinity, minTimeout: WRITE_AGAIN_MS, factor: 1, signal },
      onFailedAttempt: ({ error, attemptNumber }) => {
        if (attemptNumber === 1) output.warn(`endpoints.json is written when that is possible: ${error.message}`);
      },
    }).catch(() => undefined);
    if (signal.aborted) return;
    const baseUrl = config.http.port === 0 ? addresses.api : config.http.baseUrl;
    const dashboardUrl = config.http.port === 0 ? addresses.api : config.http.dashboardUrl;
    const demoKeyFile = join(config.dataDir, 'demo-key');
    const seconds = (performance.now() - began) / 1000;
    if (!hasAnnounced)
      output.ready({
        ...{ baseUrl, dashboardUrl, metricsUrl: addresses.metrics, dataDir: config.dataDir, seconds },
        demoKeyFile: existsSync(demoKeyFile) ? demoKeyFile : undefined,
      });
    if (!hasAnnounced) releaseMemory();
    hasAnnounced = true;
  };
  return { announce, hasAnnounced: () => hasAnnounced };
}

/** Names the first of these folders whose disk is full; undefined if none is. Engines end while their disk is full. */
async function fullDisk(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const space = await diskSpace(folder);
    if (space !== undefined && isFull(space)) {
      return `the disk of ${folder} is full: ${inMegabytes(space.free)} of ${inMegabytes(space.size)} are free`;
    }
  }
  return undefined;
}
