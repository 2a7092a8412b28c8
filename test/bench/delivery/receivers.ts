/**
 * Webhook endpoints in a separate process: servers that answer 204 at once, and one that never answers. It reports
 * their ports, and every 100 ms the number of webhooks since the last report and the time of each from its match's
 * recording, in milliseconds.
 */
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceiverPorts {
  answering: number[];
  hanging: number;
}

/** The webhooks received since the last message. */
export interface ReceivedSince {
  latencies: number[];
}

let latencies: number[] = [];

const answering: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { match } = JSON.parse(Buffer.concat(chunks).toString()) as { match: { created_at: string } };
    latencies.push(Date.now() - Date.parse(match.created_at));
    response.writeHead(204).end();
  });
};

async function listen(handle: RequestListener, host = '127.0.0.1'): Promise<number> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, host, 4_096, resolve));
  return (server.address() as AddressInfo).port;
}

const ports: ReceiverPorts = {
  answering: await Promise.all(Array.from({ length: Number(process.argv[2]) }, () => listen(answering))),
  // Listens on all loopback addresses, 127.0.0.0/8, for any number of origins.
  hanging: await listen((request) => request.resume(), '0.0.0.0'),
};
process.send!(ports);
setInterval(() => {
  if (latencies.length === 0) return;
  process.send!({ latencies } satisfies ReceivedSince);
  latencies = [];
}, 100);
process.once('disconnect', () => process.exit());
