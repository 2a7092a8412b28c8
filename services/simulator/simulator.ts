import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { AccessOptions } from './http/access.ts';
import { Access } from './http/access.ts';
import { Faults, OddShapes } from './http/control-routes.ts';
import { PaymentSimulator } from './http/payment-simulator.ts';
import type { PaymentSimulatorOptions } from './http/payment-simulator.ts';
import { requestListener } from './http/server.ts';
import type { Latency } from './http/server.ts';
import type { WorldOptions } from './world.ts';
import { openWorld } from './world.ts';

/** The maximum lag of the emitted log while there are no requests. */
const LOG_TICK_MS = 20;
/** Without a log only requests need items, and each emits what is due: just the stored position lags. */
const TICK_MS = 500;
/** Longer than a crawler's pause, so that the crawler never uses a connection that is being closed. */
const KEEP_ALIVE_MS = 60_000;

const NO_LATENCY: Latency = { minMs: 0, maxMs: 0 };

interface SimulatorOptions {
  /** Default: loopback. Its control routes have no password, so another host is for closed networks only. */
  host?: string;
  port: number;
  latency?: Latency;
  world: WorldOptions;
  access: AccessOptions;
  payments?: PaymentSimulatorOptions | undefined;
}

/** `stop` saves its position. With `tick: false` only requests emit items. */
export async function startSimulator(options: SimulatorOptions, now: () => number, tick = true) {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS });
  server.listen(options.port, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  // Only after the port is open: a second start on the same port must fail before it touches the files of the first.
  const world = openWorld(options.world, now);
  const { latency = NO_LATENCY } = options;
  const control = { world, faults: new Faults(), oddShapes: new OddShapes(), access: new Access(options.access) };
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const payments = options.payments && new PaymentSimulator(options.payments, now);
  payments?.listensAt(url);
  server.on('request', requestListener({ ...control, latency, payments }));
  const tickMs = options.world.emittedLog === undefined ? TICK_MS : LOG_TICK_MS;
  const timer = tick ? setInterval(() => world.emission.advance(), tickMs) : undefined;
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
    await payments?.stop();
    world.emission.close();
  };
  return { url, world, stop };
}
