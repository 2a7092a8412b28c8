/**
 * `npm run --silent bench -- mcp [--seconds N] [--rate N]`: what a call of a tool adds to the same request over REST: a cached post at an even
 * rate over 50 accounts, with everything that a request passes through, in both eras of the protocol. On embedded Postgres, or on
 * TEST_POSTGRES_URL.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import type { Report } from './main.ts';
import type { AccountsAddresses, AccountsJob } from './support-accounts-child.ts';
import { difference, inMs, run } from './support-even-load.ts';
import type { Load, Server } from './support-even-load.ts';
import { percentiles } from './support-percentiles.ts';
import { openPostgres } from './support-postgres-engine.ts';

const ACCOUNTS = 50;
const ROUNDS = 3;
const COMMENTS = [20, 200];
const CLIENT = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const TOOL = { name: 'get_forum_post', arguments: { id: 'bench1' } };
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': TOOL.name };

export default async function bench(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { seconds: { type: 'string', default: '10' }, rate: { type: 'string', default: '100' } },
  });
  const load = { perSecond: Number(values.rate), seconds: Number(values.seconds) };
  const engine = await openPostgres();
  try {
    for (const comments of COMMENTS) {
      await compare(engine.url, comments, load, (line) => {
        report({ comments, ...line });
      });
    }
  } finally {
    await engine.stop();
  }
}

async function compare(postgresUrl: string, comments: number, load: Load, report: Report): Promise<void> {
  const child = fork(join(import.meta.dirname, 'support-accounts-child.ts'));
  try {
    child.send({ postgresUrl, accounts: ACCOUNTS, comments } satisfies AccountsJob);
    const [{ whole, keys }] = (await once(child, 'message')) as [AccountsAddresses];
    const servers = {
      rest: server(whole, keys, { method: 'GET', path: '/v1/forum/post?id=bench1' }),
      'mcp 2026-07-28': server(whole, keys, call({ ...TOOL, _meta: CLIENT }, MODERN)),
      'mcp 2025-11-25': server(whole, keys, call(TOOL, { 'mcp-protocol-version': '2025-11-25' })),
    };
    const names = Object.keys(servers) as (keyof typeof servers)[];
    for (const name of names) await run(servers[name], { ...load, seconds: 2 });
    const all = new Map<keyof typeof servers, number[]>(names.map((name) => [name, []]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of names) all.get(name)!.push(...(await run(servers[name], load)));
    }
    for (const [name, latencies] of all) {
      report({ case: name, requests: latencies.length, per_second: load.perSecond, ...inMs(latencies) });
    }
    const rest = percentiles(all.get('rest')!);
    for (const name of names.filter((one) => one !== 'rest')) {
      const { p50, p99 } = percentiles(all.get(name)!);
      report({
        case: `added by ${name}`,
        goal_p50_ms: 3,
        p50_ms: difference(p50, rest.p50),
        p99_ms: difference(p99, rest.p99),
      });
    }
    for (const name of names) await servers[name].close();
  } finally {
    child.kill('SIGKILL');
  }
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
