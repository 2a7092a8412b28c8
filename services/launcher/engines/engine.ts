import type { PortName } from './ports.ts';
import type { OwnedProcess } from './owned-process.ts';

export type EngineName = 'kafka' | 'postgres' | 'clickhouse';

/** What every engine is built from. */
export interface EngineContext {
  /** Absolute path; it exists and is writable. */
  dataDir: string;
  /** The environment that child processes get, and in which java, mvn and the cache folder are looked up. */
  env: NodeJS.ProcessEnv;
  /** A line for the person who waits. */
  progress: (line: string) => void;
  /** Aborts a start that is under way. */
  signal?: AbortSignal | undefined;
}

/** One embedded engine: how it is prepared, started again, and found. */
export interface Engine {
  readonly name: EngineName;
  readonly ports: readonly PortName[];
  readonly stopSignal: NodeJS.Signals;
  /** Fetches and checks what a start needs; touches nothing of a running engine. @throws StartFault */
  prepare(): Promise<void>;
  /** Ends what an earlier parent left behind. */
  endOrphans(): Promise<void>;
  /** Starts it on its ports and resolves when it answers. Also used to start it again. @throws StartFault */
  start(ports: Record<PortName, number>): Promise<OwnedProcess>;
  /** Valid after the first start. */
  url(ports: Record<PortName, number>): string;
}
