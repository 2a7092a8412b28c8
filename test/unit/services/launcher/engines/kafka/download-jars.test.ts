import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { downloadJars } from '../../../../../../services/launcher/engines/kafka/download-jars.ts';
import type { PinnedJar } from '../../../../../../services/launcher/engines/kafka/verify-jars.ts';
import { eventually } from '../../../../../support/fixtures/eventually.ts';

const CONTENT = randomBytes(300_000);
const jar = (file: string, content: Buffer = CONTENT): PinnedJar => ({
  path: `org/example/${file}/1/${file}`,
  file,
  digest: createHash('sha256').update(content).digest('hex'),
});

let folder: string;
let server: Server;
let repository: string;
/** `url range` of each request. */
let asked: string[];
let serve: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'forum-download-'));
  asked = [];
  server = createServer((request, response) => {
    asked.push([request.url, request.headers.range].filter(Boolean).join(' '));
    serve(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  repository = `http://127.0.0.1:${(server.address() as AddressInfo).port}/maven2/`;
  serve = (request, response) => answer(request, response, CONTENT.length);
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

/** Resolves once the client has written this many bytes of a jar. */
async function written(file: string, bytes: number): Promise<void> {
  const size = () => statSync(join(folder, `${file}.part`), { throwIfNoEntry: false })?.size ?? 0;
  await eventually(`${bytes} bytes of ${file}`, () => size() >= bytes);
}

/** Answers as a repository does, and cuts the connection when the client has written `upTo` bytes of the file. */
function answer(request: IncomingMessage, response: ServerResponse, upTo: number, content = CONTENT): void {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const rest = content.subarray(from);
  response.writeHead(from > 0 ? 206 : 200, { 'content-length': rest.length });
  if (upTo >= content.length) response.end(rest);
  else {
    response.write(content.subarray(from, Math.max(from, upTo)));
    void written(basename(request.url!), upTo).then(() => response.destroy());
  }
}

const download = (
  jars: readonly PinnedJar[],
  more: { signal?: AbortSignal; repository?: string; env?: NodeJS.ProcessEnv } = {},
) => downloadJars({ repository, jars, folder, env: {}, retryMs: 1, ...more });

describe('downloadJars', () => {
  test('continues a cut download where it ended', async () => {
    const cuts = [100_000, 200_000, CONTENT.length];
    serve = (request, response) => answer(request, response, cuts.shift()!);
    await download([jar('a.jar')]);
    expect(readFileSync(join(folder, 'a.jar')).equals(CONTENT)).toBe(true);
    const url = `/maven2/${jar('a.jar').path}`;
    expect(asked).toEqual([url, `${url} bytes=100000-`, `${url} bytes=200000-`]);
  });

  test('refuses a jar with another content, and keeps none of it', async () => {
    const other = Buffer.concat([CONTENT.subarray(1), Buffer.from('x')]);
    serve = (request, response) => answer(request, response, CONTENT.length, other);
    await expect(download([jar('a.jar')])).rejects.toThrow(/^a\.jar of .* does not have the expected checksum/);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('sends user and password to the repository only, and shows them nowhere', async () => {
    const seen: (string | undefined)[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers.authorization);
      answer(request, response, CONTENT.length);
    }).listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    serve = (request, response) => {
      seen.push(request.headers.authorization);
      const { port } = elsewhere.address() as AddressInfo;
      response.writeHead(302, { location: `http://127.0.0.1:${port}/a.jar` }).end();
    };
    const withPassword = repository.replace('http://', 'http://me:s%3Acret@');
    await download([jar('a.jar')], { repository: withPassword });
    expect(seen).toEqual([`Basic ${Buffer.from('me:s:cret').toString('base64')}`, undefined]);
    serve = (_request, response) => response.writeHead(404).end();
    await expect(download([jar('b.jar')], { repository: withPassword })).rejects.not.toThrow(/cret/);
    elsewhere.closeAllConnections();
    elsewhere.close();
  });

  test('refuses an address that is no proxy, and does not show its password', async () => {
    const failed = expect(
      download([jar('a.jar')], { env: { HTTPS_PROXY: 'ftp://me:s3cret@proxy.test:3128' } }),
    ).rejects;
    await failed.toThrow(/^HTTPS_PROXY is no address of a proxy(?![^]*s3cret)/);
    expect(asked).toEqual([]);
  });

  test('ends when it is interrupted, and keeps what it has', async () => {
    const stopping = new AbortController();
    serve = (_request, response) => {
      response.writeHead(200, { 'content-length': CONTENT.length });
      response.write(CONTENT.subarray(0, 50_000));
      void written('a.jar', 50_000).then(() => stopping.abort());
    };
    await expect(download([jar('a.jar')], { signal: stopping.signal })).rejects.toThrow('interrupted');
    expect(readdirSync(folder)).toEqual(['a.jar.part']);
  });
});
