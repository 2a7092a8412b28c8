import { resolve } from 'node:path';
import { errorMessage } from '../../../shared/runtime/errors.ts';
import { clickhouseCredentials, clickhouseEngine, clickhouseUrl } from './clickhouse/clickhouse-engine.ts';
import { makeDataDir } from './data-dir-lock.ts';
import { StartFault } from './engine.ts';
import type { Engine, EngineContext, EngineName } from './engine.ts';
import { kafkaEngine } from './kafka/kafka-engine.ts';
import { endOrphan } from './owned-process.ts';
import type { OwnedProcess } from './owned-process.ts';
import { reservePorts } from './ports.ts';
import type { PortName } from './ports.ts';
import { postgresEngine } from './postgres/postgres-engine.ts';

export interface StartEnginesOptions<Name extends EngineName> {
  /** The folder for all files; created if missing. It has one owner at a time. */
  dataDir: string;
  /** The environment of the children, and of the lookup of programs and the cache folder. */
  env: NodeJS.ProcessEnv;
  engines?: readonly Name[];
  progress?: (line: string) => void;
  note?: (line: string) => void;
  /** Java heap of the broker in MB; default 384. */
  kafkaHeapMb?: number;
  signal?: AbortSignal;
}

export interface RunningEngines<Name extends EngineName = EngineName> {
  /** With user and password; only those of the requested engines. */
  urls: Record<Name, string>;
  clickhouseReadOnlyUrl: string | undefined;
  ports: Record<PortName, number>;
  process(name: Name): OwnedProcess;
  restart(name: Name): Promise<OwnedProcess>;
  stop(): Promise<void>;
}

/**
 * Starts real servers in parallel, in about 3 s, after what an earlier owner left running there was stopped. A failed
 * start leaves nothing running. @throws StartFault
 */
export async function startEngines<Name extends EngineName = EngineName>(
  options: StartEnginesOptions<Name>,
): Promise<RunningEngines<Name>> {
  const context: EngineContext = {
    dataDir: resolve(options.dataDir),
    env: options.env,
    progress: options.progress ?? (() => undefined),
    note: options.note,
    signal: options.signal,
  };
  makeDataDir(context.dataDir);
  const wanted = new Set<EngineName>(options.engines ?? ['kafka', 'postgres', 'clickhouse']);
  const engines = [
    kafkaEngine(context, { heapMb: options.kafkaHeapMb ?? 384 }),
    postgresEngine(context),
    clickhouseEngine(context),
  ].filter((engine) => wanted.has(engine.name));
  for (const engine of engines) await engine.prepare();
  await Promise.all(engines.map(({ pidFile, stopSignal }) => endOrphan(pidFile, stopSignal, 10_000)));
  const ports = await reservePorts(context.dataDir, { note: (line) => context.note?.(line) });
  return running<Name>(context.dataDir, engines, ports, await startAll(context, engines, ports));
}

async function startAll(
  context: EngineContext,
  engines: Engine[],
  ports: Record<PortName, number>,
): Promise<Map<EngineName, OwnedProcess>> {
  const processes = new Map<EngineName, OwnedProcess>();
  const started = performance.now();
  const outcomes = await Promise.allSettled(
    engines.map(async (engine) => {
      processes.set(engine.name, await engine.start(ports));
      context.note?.(`${engine.name} is ready (${((performance.now() - started) / 1000).toFixed(1)} s)`);
    }),
  );
  const failures = outcomes
    .filter((outcome) => outcome.status === 'rejected')
    .map((outcome) => outcome.reason as unknown);
  if (failures.length === 0) return processes;
  await Promise.all([...processes.values()].map((process) => process.stop()));
  throw new StartFault(failures.map(errorMessage).join('\n'));
}

function running<Name extends EngineName>(
  dataDir: string,
  engines: Engine[],
  ports: Record<PortName, number>,
  processes: Map<EngineName, OwnedProcess>,
): RunningEngines<Name> {
  const processOf = (name: EngineName) => {
    const process = processes.get(name);
    if (process === undefined) throw new Error(`${name} is not embedded here`);
    return process;
  };
  let stopping = false;
  return {
    urls: Object.fromEntries(engines.map((engine) => [engine.name, engine.url(ports)])) as Record<Name, string>,
    clickhouseReadOnlyUrl: processes.has('clickhouse')
      ? clickhouseUrl(clickhouseCredentials(dataDir).reader, ports['clickhouse-read-only'])
      : undefined,
    ports,
    process: processOf,
    async restart(name) {
      const engine = engines.find((candidate) => candidate.name === name);
      if (engine === undefined) throw new Error(`${name} is not embedded here`);
      const process = await engine.start(ports);
      processes.set(name, process);
      if (stopping) await process.stop();
      return process;
    },
    async stop() {
      stopping = true;
      await Promise.all([...processes.values()].map((process) => process.stop()));
    },
  };
}
