import { once } from 'node:events';
import { createReadStream, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kafkaJars } from '../../../services/launcher/engines/kafka/kafka-jars.ts';
import { parseJars } from '../../../services/launcher/engines/kafka/verify-jars.ts';

const PINNED = parseJars(
  readFileSync(join(import.meta.dirname, '../../../services/launcher/engines/kafka/jars.sha256'), 'utf8'),
);

let root: string;
let server: Server;
/** The jars that the embedded broker of this run was started with, served as a Maven repository does. */
let fetched: string;
const asked: string[] = [];

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'forum-jars-test-'));
  fetched = (await kafkaJars({ dataDir: root, env: process.env, progress: () => undefined })).folder;
  server = createServer((request, response) => {
    const path = (request.url ?? '').replace('/maven2/', '');
    asked.push(path);
    if (PINNED.some((jar) => jar.path === path)) createReadStream(join(fetched, basename(path))).pipe(response);
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(root, { recursive: true, force: true });
});

test('without Maven the jars of the broker come from a repository, once; later starts need no network', async () => {
  const repository = `http://127.0.0.1:${(server.address() as AddressInfo).port}/maven2`;
  const lines: string[] = [];
  const context = (address: string) => ({
    dataDir: root,
    env: { PATH: '/nowhere', XDG_CACHE_HOME: join(root, 'cache'), KAFKA_JARS_URL: address },
    progress: (line: string) => lines.push(line),
  });
  const both = await Promise.all([kafkaJars(context(repository)), kafkaJars(context(repository))]);
  expect(new Set(both.map(({ folder }) => folder)).size).toBe(1);
  const { folder, classPath } = both[0];
  expect(readdirSync(folder).sort()).toEqual(PINNED.map(({ file }) => file).sort());
  expect(readdirSync(join(root, 'cache', 'forum-monitor'))).toEqual([basename(folder)]);
  expect(lines[0]).toMatch(/^downloading Kafka 4[\d.]+ \(43 MB, once\)/);
  expect(new Set(asked)).toEqual(new Set(PINNED.map(({ path }) => path)));
  const count = asked.length;
  expect(await kafkaJars(context('http://127.0.0.1:1'))).toEqual({ folder, classPath });
  expect(asked).toHaveLength(count);
});
