import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listOf } from '../../../services/simulator/http/payment-simulator.ts';

interface Listed {
  id: string;
  created: number;
}

/** The provider's lists of events and sessions, over HTTP. */
export async function startListedPayments(lists: { events: Listed[]; sessions: Listed[] }) {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const all = url.pathname === '/v1/events' ? lists.events : lists.sessions;
    const { status, body } = listOf(all, url.pathname, url.searchParams);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
