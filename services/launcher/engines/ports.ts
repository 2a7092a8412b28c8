import { randomInt } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { delay } from '../../../shared/runtime/clock.ts';
import { readJsonFile } from '../../../shared/runtime/endpoints-file.ts';

const NAMES = ['kafka', 'kafka-controller', 'postgres', 'clickhouse', 'clickhouse-read-only', 'simulator'] as const;
export type PortName = (typeof NAMES)[number];

/**
 * Below the ephemeral ports of every system: an outgoing connection, even of a client that reconnects to it, could take
 * the port of an engine while it restarts.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

export interface PortOptions {
  progress: (line: string) => void;
  random?: (from: number, to: number) => number;
}

/**
 * Reserves a free loopback port for each part, whether it runs or not. They are chosen once and stored in
 * DATA_DIR/ports.json. A stored port that another program uses is replaced, with a progress message. Call it after
 * orphans have been ended, because they may still use our ports.
 */
export async function reservePorts(dataDir: string, options: PortOptions): Promise<Record<PortName, number>> {
  const random = options.random ?? randomInt;
  const path = join(dataDir, 'ports.json');
  const stored = (readJsonFile(path) ?? {}) as Partial<Record<PortName, number>>;
  const ports: Partial<Record<PortName, number>> = { ...stored };
  for (const name of NAMES) {
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
  return ports as Record<PortName, number>;
}

/** A process that was just killed releases its port with a short delay. */
async function becomesFree(port: number): Promise<boolean> {
  for (let attempt = 0; attempt < 20; attempt++) {
    if (await portIsFree(port)) return true;
    await delay(100);
  }
  return false;
}

export async function portIsFree(port: number): Promise<boolean> {
  return (await listenFault(port, '127.0.0.1')) === undefined;
}

/** The code of the error with which listening fails; undefined if it is possible. */
export function listenFault(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
