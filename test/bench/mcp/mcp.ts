/**
 * `npm run --silent bench -- mcp [--seconds N] [--rate N]`: what a tool call adds to the same request over REST: a
 * cached post at an even rate over 50 accounts, with everything that a request passes through, in both versions of the
 * protocol. Runs on embedded Postgres, or on TEST_POSTGRES_URL.
 */
import { Pool } from 'undici';
import type { Report } from '../main.ts';
import { compareCachedPost } from '../shared/cached-post.ts';
import { difference } from '../shared/even-load.ts';
import type { Server } from '../shared/even-load.ts';

const CLIENT = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const TOOL = { name: 'get_forum_post', arguments: { id: 'bench1' } };
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': TOOL.name };

const ERAS = ['mcp 2026-07-28', 'mcp 2025-11-25'] as const;

export default function bench(report: Report, args: string[]): Promise<void> {
  return compareCachedPost(report, args, {
    rate: '100',
    createServers: ({ whole, keys }) => ({
      rest: server(whole, keys, { method: 'GET', path: '/v1/forum/post?id=bench1' }),
      'mcp 2026-07-28': server(whole, keys, call({ ...TOOL, _meta: CLIENT }, MODERN)),
      'mcp 2025-11-25': server(whole, keys, call(TOOL, { 'mcp-protocol-version': '2025-11-25' })),
    }),
    conclude({ rest, ...eras }, say) {
      for (const era of ERAS) {
        const { p50, p99 } = eras[era];
        const added = { p50_ms: difference(p50, rest.p50), p99_ms: difference(p99, rest.p99) };
        say({ case: `added by ${era}`, goal_p50_ms: 3, ...added });
      }
    },
  });
}

interface Sent {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

function call(params: object, headers: Record<string, string>): Sent {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const accept = 'application/json, text/event-stream';
  return { method: 'POST', path: '/mcp', headers: { 'content-type': 'application/json', accept, ...headers }, body };
}

function server(url: string, keys: readonly string[], { headers, ...sent }: Sent): Server {
  const pool = new Pool(url, { connections: 64 });
  return {
    async ask(number) {
      const authorization = `Bearer ${keys[number % keys.length]!}`;
      const answer = await pool.request({ ...sent, headers: { ...headers, authorization } });
      const text = await answer.body.text();
      if (answer.statusCode !== 200 || text.includes('"isError":true')) {
        throw new Error(`answered ${answer.statusCode}: ${text.slice(0, 500)}`);
      }
    },
    close: () => pool.close(),
  };
}
