import { randomInt } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { delay } from '../../../shared/runtime/clock.ts';

export type PortName = 'kafka' | 'kafka-controller' | 'postgres' | 'clickhouse' | 'clickhouse-read-only' | 'simulator';

/**
 * Below the range of ephemeral ports of every system (Linux from 32768, macOS from 49152). A listening port inside that
 * range could be taken by an outgoing connection while its engine restarts, even by a client that keeps reconnecting to
 * it.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

export interface PortOptions {
  progress: (line: string) => void;
  /** Returns a random integer from `from` (inclusive) to `to` (exclusive). */
  random?: (from: number, to: number) => number;
}

/**
 * Reserves free loopback ports. They are chosen once and stored in DATA_DIR/ports.json for later starts. A stored port
 * that another program uses is replaced, with a progress message. Call it after orphans have been ended, because they
 * may still use our ports.
 */
export async function reservePorts(
  dataDir: string,
  names: readonly PortName[],
  options: PortOptions,
): Promise<Record<PortName, number>> {
  const random = options.random ?? randomInt;
  const path = join(dataDir, 'ports.json');
  const stored = readPorts(path);
  const ports: Partial<Record<PortName, number>> = { ...stored };
  for (const name of names) {
    const before = stored[name];
    if (before !== undefined && (await becomesFree(before))) continue;
    let port = random(FIRST_PORT, LAST_PORT);
    while (Object.values(ports).includes(port) || !(await portIsFree(port))) port = random(FIRST_PORT, LAST_PORT);
    if (before !== undefined)
      options.progress(`port ${before} is in use by another program; ${name} moves to port ${port}`);
    ports[name] = port;
  }
  writeFileSync(`${path}.new`, `${JSON.stringify(ports)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return {
    kafka: 0,
    'kafka-controller': 0,
    postgres: 0,
    clickhouse: 0,
    'clickhouse-read-only': 0,
    simulator: 0,
    ...ports,
  };
}

/** Retries for 2 s, because a process that was just killed releases its port with a short delay. */
async function becomesFree(port: number): Promise<boolean> {
  for (let attempt = 0; attempt < 20; attempt++) {
    if (await portIsFree(port)) return true;
    await delay(100);
  }
  return false;
}

function readPorts(path: string): Partial<Record<PortName, number>> {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as Partial<Record<PortName, number>> | null) ?? {};
  } catch {
    return {};
  }
}

/** Resolves to true if nothing listens on the port of this host (default: loopback). */
export function portIsFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}
