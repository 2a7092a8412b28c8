import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SoakEndpoints {
  /** Each endpoint has an address of its own. */
  urlOf(endpoint: number): string;
  /** Whether it answers each request with success. */
  isHealthy(endpoint: number): boolean;
  /** When the first request of a match arrived, by its id, in milliseconds since the epoch; of healthy endpoints. */
  arrivals: ReadonlyMap<string, number>;
  /** Requests by what became of them. */
  counts: Record<'answered' | 'failed' | 'hanging', number>;
  stop(): Promise<void>;
}

/** Of 100 endpoints the first 5 answer 500 and the next 2 never answer. */
const FAILING = 5;
const HANGING = 2;

/** One server on loopback for many endpoints: 127.0.1.1, 127.0.1.2 and so on. */
export async function startEndpoints(): Promise<SoakEndpoints> {
  const arrivals = new Map<string, number>();
  const counts = { answered: 0, failed: 0, hanging: 0 };
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const place = Number(request.url!.slice(1)) % 100;
      if (place < FAILING) {
        counts.failed++;
        response.writeHead(500).end();
      } else if (place < FAILING + HANGING) counts.hanging++;
      else {
        counts.answered++;
        const id = String(request.headers['x-service-delivery']);
        if (!arrivals.has(id)) arrivals.set(id, Date.now());
        response.writeHead(204).end();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (endpoint) => `http://127.0.${1 + Math.floor(endpoint / 250)}.${1 + (endpoint % 250)}:${port}/${endpoint}`,
    isHealthy: (endpoint) => endpoint % 100 >= FAILING + HANGING,
    arrivals,
    counts,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
