import { randomInt } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { delay } from '../../../shared/runtime/clock.ts';
import type { Config } from '../../../shared/runtime/config.ts';
import { readJsonFile } from '../../../shared/runtime/endpoints-file.ts';
import { StartFault } from './engine.ts';

const NAMES = ['kafka', 'kafka-controller', 'postgres', 'clickhouse', 'clickhouse-read-only', 'simulator'] as const;
export type PortName = (typeof NAMES)[number];

/**
 * Below the ephemeral ports of every system: an outgoing connection, even of a client that reconnects to it, could take
 * the port of an engine while it restarts.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

export interface PortOptions {
  note: (line: string) => void;
  random?: (from: number, to: number) => number;
}

/**
 * Reserves a free loopback port for each part, whether it runs or not. They are chosen once and stored in
 * DATA_DIR/ports.json. A stored port that another program uses is replaced, which is noted. Call it after
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
      options.note(`port ${before} is in use by another program; ${name} moves to port ${port}`);
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

const DEFAULT_METRICS_PORT = 9464;

type Addresses = Pick<Config['http'], 'host' | 'port' | 'metricsHost' | 'metricsPort'>;

/**
 * Checks that the API and the metrics can listen. Where the default port of the metrics is in use, they take a free
 * one.
 *
 * @returns the port for the metrics; 0 for any free port
 * @throws StartFault that names the setting
 */
export async function claimPorts(http: Addresses, note: (line: string) => void): Promise<number> {
  await mustListen(http.host, http.port, 'HOST', 'PORT');
  if (http.metricsPort !== undefined) return claimMetricsPort(http);
  const isFree =
    http.port !== DEFAULT_METRICS_PORT && (await listenFault(DEFAULT_METRICS_PORT, http.metricsHost)) === undefined;
  if (isFree) return DEFAULT_METRICS_PORT;
  await claimMetricsPort(http);
  note(`port ${DEFAULT_METRICS_PORT} is in use; the metrics use a free port (set METRICS_PORT to choose one)`);
  return 0;
}

/** As claimPorts, for a process that joins an installation: only the ports that its services use. */
export async function claimJoiningPorts(http: Addresses, { withApi }: { withApi: boolean }): Promise<number> {
  if (withApi) await mustListen(http.host, http.port, 'HOST', 'PORT');
  return claimMetricsPort(http);
}

async function claimMetricsPort({ metricsHost, metricsPort = 0 }: Addresses): Promise<number> {
  await mustListen(metricsHost, metricsPort, 'METRICS_HOST', 'METRICS_PORT');
  return metricsPort;
}

async function mustListen(host: string, port: number, hostVariable: string, portVariable: string): Promise<void> {
  const fault = await listenFault(port, host);
  if (fault === undefined) return;
  if (fault !== 'EADDRINUSE' && fault !== 'EACCES') {
    throw new StartFault(`${hostVariable} ${host} is not an address of this machine (${fault}).`);
  }
  const reason = fault === 'EADDRINUSE' ? 'is in use by another program' : `on ${host} may not be used by this user`;
  const way = fault === 'EADDRINUSE' ? 'Stop that program, or choose' : 'Choose';
  throw new StartFault(`Port ${port} ${reason}. ${way} another port with ${portVariable}=….`);
}
