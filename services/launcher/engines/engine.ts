import type { PortName } from './ports.ts';
import type { OwnedProcess } from './owned-process.ts';

export type EngineName = 'kafka' | 'postgres' | 'clickhouse';

export interface EngineContext {
  dataDir: string;
  /** The environment that child processes get, and in which java, mvn and the cache folder are looked up. */
  env: NodeJS.ProcessEnv;
  progress: (line: string) => void;
  signal?: AbortSignal | undefined;
}

export interface Engine {
  readonly name: EngineName;
  readonly stopSignal: NodeJS.Signals;
  /** Names its process, also when an earlier parent left it running. */
  readonly pidFile: string;
  /** Fetches and checks what a start needs; does not affect a running engine. @throws StartFault */
  prepare(): Promise<void>;
  /** Starts or restarts the engine on its ports and resolves when it answers. @throws StartFault */
  start(ports: Record<PortName, number>): Promise<OwnedProcess>;
  url(ports: Record<PortName, number>): string;
}
