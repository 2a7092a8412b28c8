import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The answers to the requests of one match, in order: a status, or 0 for none. */
export type Answers = number[];

const SHARES: [number, number | 'reset' | 'hang'][] = [
  [0.72, 204],
  [0.84, 500],
  [0.91, 429],
  [0.95, 400],
  [0.99, 'reset'],
  [1, 'hang'],
];
const LONGEST_ANSWER_MS = 300;

/** Endpoints that fail at random. The answer to a match's n-th request depends only on (seed, match, n). */
export class RandomEndpoints {
  /** By match id. */
  readonly answers = new Map<string, Answers>();
  /** Requests that have arrived and are not yet answered. */
  answering = 0;
  private readonly seed: number;
  private readonly servers: Server[] = [];

  constructor(seed: number) {
    this.seed = seed;
  }

  /** @returns URLs, spread evenly over the servers */
  async start(servers: number, endpoints: number): Promise<string[]> {
    for (let index = 0; index < servers; index++) {
      const server = createServer((request, response) => {
        request.resume();
        request.on('error', () => undefined);
        request.on('end', () => {
          this.answer(String(request.headers['x-service-delivery']), response);
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4_096, resolve));
      this.servers.push(server);
    }
    return Array.from({ length: endpoints }, (_, index) => {
      const { port } = this.servers[index % servers]!.address() as AddressInfo;
      return `http://127.0.0.1:${port}/${index}`;
    });
  }

  async stop(): Promise<void> {
    for (const server of this.servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  private answer(match: string, response: ServerResponse): void {
    const answers = this.answers.get(match) ?? [];
    this.answers.set(match, answers);
    const drawn = this.draw(`${match}.${answers.length}`);
    const found = SHARES.find(([below]) => drawn < below)![1];
    // Only the first request of a match may hang, or the test would mostly wait.
    const kind = found === 'hang' && answers.length > 0 ? 500 : found;
    answers.push(typeof kind === 'number' ? kind : 0);
    if (kind === 'hang') return;
    this.answering++;
    setTimeout(
      () => {
        this.answering--;
        if (kind === 'reset') response.socket?.resetAndDestroy();
        // It holds back the whole URL, by a clock that tests of processes do not move.
        else response.writeHead(kind, kind === 429 ? { 'Retry-After': '1' } : {}).end();
      },
      LONGEST_ANSWER_MS * this.draw(`${match}.${answers.length} waits`),
    );
  }

  /** 0 ≤ number < 1. */
  private draw(of: string): number {
    return createHash('sha256').update(`${this.seed} ${of}`).digest().readUInt32LE() / 2 ** 32;
  }
}
