import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

// The official clients check structured answers against the tools' output schemas, also those of failed calls.

let db: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

/** What a client reports about a call. */
interface Seen {
  isError: boolean;
  text: string;
  structured: unknown;
}

/** Lists the tools, then calls these. @returns what the client reports about each call */
type Walk = (url: string, key: string, calls: readonly Call[]) => Promise<Seen[]>;
type Call = readonly [name: string, args: Record<string, unknown>];

interface AnyClient {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<unknown>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

async function walk(client: AnyClient, transport: unknown, calls: readonly Call[]): Promise<Seen[]> {
  await client.connect(transport);
  await client.listTools();
  const seen: Seen[] = [];
  for (const [name, args] of calls) {
    const result = (await client.callTool({ name, arguments: args })) as {
      isError?: boolean;
      content: { text: string }[];
      structuredContent?: unknown;
    };
    seen.push({
      isError: result.isError === true,
      text: result.content[0]!.text,
      structured: result.structuredContent,
    });
  }
  await client.close();
  return seen;
}

const INFO = { name: 'test', version: '1' };
const requestInit = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });

/** For the versions 1 and 2 of the package, whose transports differ. */
const PYTHON = `
import asyncio, json, sys
from mcp import ClientSession
try:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client
    def transport(url, headers):
        return streamable_http_client(url, http_client=httpx2.AsyncClient(headers=headers))
except ImportError:
    from mcp.client.streamable_http import streamablehttp_client as transport

async def main(url, key, calls):
    async with transport(url, headers={"Authorization": f"Bearer {key}"}) as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            await session.list_tools()
            seen = []
            for name, arguments in calls:
                result = (await session.call_tool(name, arguments)).model_dump(by_alias=True)
                text = result["content"][0]["text"]
                seen.append({"isError": bool(result["isError"]), "text": text, "structured": result["structuredContent"]})
            print(json.dumps(seen))

asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
`;
/** Names another interpreter with the package, such as that of a virtual environment. */
const python = process.env.PYTHON ?? 'python3';
const hasPythonClient = spawnSync(python, ['-c', 'import mcp.client.streamable_http']).status === 0;

const CLIENTS: [name: string, isHere: boolean, walk: Walk][] = [
  [
    'TypeScript SDK 1.32.2',
    true,
    (url, key, calls) =>
      walk(new Client1(INFO), new Transport1(new URL(url), { requestInit: requestInit(key) }), calls),
  ],
  [
    'TypeScript client 2.4.0',
    true,
    (url, key, calls) =>
      walk(new Client2(INFO), new Transport2(new URL(url), { requestInit: requestInit(key) }), calls),
  ],
  [
    `Python's package mcp${hasPythonClient ? '' : ' (skipped: not installed)'}`,
    hasPythonClient,
    async (url, key, calls) => {
      const { stdout } = await promisify(execFile)(python, ['-c', PYTHON, url, key, JSON.stringify(calls)]);
      return (JSON.parse(stdout) as Seen[]).map((seen) => ({ ...seen, structured: seen.structured ?? undefined }));
    },
  ],
];

describe.each(CLIENTS)('%s', (_, isHere, walkWith) => {
  test.skipIf(!isHere)('shows the message of a failed call, and structured answers of the others', async () => {
    const { apiKey } = await api.account({ credits: 15 });
    const seen = await walkWith(`${api.url}/mcp`, apiKey, [
      ['list_monitors', {}],
      ['pause_monitor', { id: 'mon_nothing' }],
      // The forum of this API is unreachable.
      ['get_subreddit', { sub: 'coffee' }],
      ['create_monitor', { name: 'first', keywords: ['rust'] }],
      ['create_monitor', { name: 'second', keywords: ['rust'] }],
    ]);
    expect(seen.map(({ isError, structured }) => [isError, structured !== undefined])).toEqual([
      [false, true],
      [true, false],
      [true, false],
      [false, true],
      [true, false],
    ]);
    const [, unknown, away, , poor] = seen;
    expect(unknown!.text).toBe('not_found: No such monitor.');
    expect(away!.text).toMatch(/^upstream_error: .+ Try again in \d+ s\.$/);
    expect(poor!.text).toBe(
      'insufficient_credits: Creating a monitor costs 10 credits. Packs are sold at http://localhost/dashboard/billing.',
    );
  });
});
