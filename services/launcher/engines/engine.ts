import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import type { OwnedProcess } from './owned-process.ts';
import type { PortName } from './ports.ts';

export type EngineName = 'kafka' | 'postgres' | 'clickhouse';

export interface EngineContext {
  dataDir: string;
  /** The environment that child processes get, and in which java, mvn and the cache folder are looked up. */
  env: NodeJS.ProcessEnv;
  progress: (line: string) => void;
  /** What only a log needs to have. */
  note?: ((line: string) => void) | undefined;
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

/** A start failed for a reason that the user can fix. Print its message without a stack trace. */
export class StartFault extends Error {
  override name = 'StartFault';
}

/** A random password of 192 bits in DATA_DIR/secrets/NAME, created by the first call. It needs no escaping. */
export function persistedSecret(dataDir: string, name: string): string {
  const folder = join(dataDir, 'secrets');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const path = join(folder, name);
  const kept = readSecret(path);
  if (kept !== undefined) return kept;
  const secret = randomBytes(24).toString('base64url');
  writeFileSync(`${path}.new`, secret, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return secret;
}

/** Undefined if it is missing or damaged. */
function readSecret(path: string): string | undefined {
  try {
    chmodSync(path, 0o600);
    const secret = readFileSync(path, 'utf8');
    return /^[\w-]{32}$/.test(secret) ? secret : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the path of the first program of this name on PATH; `java` is looked up in JAVA_HOME/bin first. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const javaHome = name === 'java' && env['JAVA_HOME'] ? [join(env['JAVA_HOME'], 'bin')] : [];
  const folders = [...javaHome, ...(env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
