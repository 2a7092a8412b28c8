import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { kafkaJars, pinnedJars } from '../../../../../../services/launcher/engines/kafka/kafka-jars.ts';
import type { PinnedJar } from '../../../../../../services/launcher/engines/kafka/kafka-jars.ts';

const CONTENT = randomBytes(300_000);
const jar = (file: string): PinnedJar => ({
  path: `org/example/${file}/1/${file}`,
  file,
  digest: createHash('sha256').update(CONTENT).digest('hex'),
});
const [A, B] = [jar('a.jar'), jar('b.jar')];

let root: string;
let server: Server;
let repository: string;
let asked: string[];
let lines: string[];
let serve: RequestListener;

const addressOf = (of: Server) => `http://127.0.0.1:${(of.address() as AddressInfo).port}`;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'forum-jars-'));
  [asked, lines] = [[], []];
  serve = (_request, response) => response.end(CONTENT);
  server = createServer((request, response) => {
    asked.push(request.url!);
    serve(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  repository = `${addressOf(server)}/maven2/`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(root, { recursive: true });
});

/** As a start of a user whose home folder is `root`. */
const fetchJars = (jars: readonly PinnedJar[], env: NodeJS.ProcessEnv = {}, signal?: AbortSignal) => {
  const progress = (line: string) => lines.push(line);
  return kafkaJars({ dataDir: root, env: { HOME: root, KAFKA_JARS_URL: repository, ...env }, progress, signal }, jars);
};
const cached = () => {
  const cache = join(root, '.cache/forum-monitor');
  return readdirSync(join(cache, readdirSync(cache)[0]!)).sort();
};

describe('kafkaJars', () => {
  test('fetches each jar, also in two starts at once; later starts need no network', async () => {
    const both = await Promise.all([fetchJars([B, A]), fetchJars([B, A])]);
    const { folder, classPath } = both[0];
    expect(classPath).toBe(`${join(folder, 'a.jar')}:${join(folder, 'b.jar')}`);
    expect(cached()).toEqual(['a.jar', 'b.jar']);
    expect(lines[0]).toMatch(/^downloading Kafka .* \(43 MB, once\) from http:/);
    expect(await fetchJars([B, A], { KAFKA_JARS_URL: 'http://127.0.0.1:1' })).toEqual(both[1]);
  });

  test('fetches again what is missing or was changed, and nothing else', async () => {
    const { folder } = await fetchJars([A, B]);
    writeFileSync(join(folder, 'b.jar'), 'other');
    asked = [];
    await fetchJars([A, B]);
    expect(asked).toEqual([`/maven2/${B.path}`]);
    expect(readFileSync(join(folder, 'b.jar')).equals(CONTENT)).toBe(true);
  });

  test('tries again after a cut and after a busy answer', async () => {
    serve = (_request, response) => {
      if (asked.length === 1) {
        response.writeHead(200, { 'content-length': CONTENT.length }).write(CONTENT.subarray(0, 1_000));
        setImmediate(() => response.destroy());
      } else if (asked.length === 2) response.writeHead(503).end();
      else response.end(CONTENT);
    };
    await fetchJars([A]);
    expect(asked).toHaveLength(3);
  });

  test('refuses a jar with another content, and keeps none of it', async () => {
    serve = (_request, response) => response.end('other');
    await expect(fetchJars([A])).rejects.toThrow(/^a\.jar of .* does not have the expected checksum/);
    expect(cached()).toEqual([]);
  });

  test('takes the mirror of the Maven settings, and what Maven has fetched before', async () => {
    const settings = `<settings><mirrors>
      <!-- <mirror><mirrorOf>*</mirrorOf><url>http://127.0.0.1:1/</url></mirror> -->
      <mirror><mirrorOf>other</mirrorOf><url>http://127.0.0.1:1/</url></mirror>
      <mirror><id>ours</id><url>${repository}</url><mirrorOf>central</mirrorOf></mirror>
    </mirrors></settings>`;
    const local = join(root, '.m2/repository', A.path);
    mkdirSync(dirname(local), { recursive: true });
    writeFileSync(local, CONTENT);
    writeFileSync(join(root, '.m2/settings.xml'), settings);
    await fetchJars([A, B], { KAFKA_JARS_URL: '' });
    expect(asked).toEqual([`/maven2/${B.path}`]);
  });

  test('sends user and password to the repository only, and shows them nowhere', async () => {
    const seen: (string | undefined)[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.end(CONTENT);
    }).listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    serve = (request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(302, { location: `${addressOf(elsewhere)}/a.jar` }).end();
    };
    const withPassword = { KAFKA_JARS_URL: repository.replace('http://', 'http://me:s%3Acret@') };
    await fetchJars([A], withPassword);
    expect(seen).toEqual([`Basic ${Buffer.from('me:s:cret').toString('base64')}`, undefined]);
    serve = (_request, response) => response.writeHead(404).end();
    await expect(fetchJars([A, B], withPassword)).rejects.toThrow(/^(?![^]*cret)[^]*answered 404 for/);
    expect(lines.join()).not.toContain('cret');
    elsewhere.closeAllConnections();
    elsewhere.close();
  });

  test('refuses an address that is no proxy, and does not show its password', async () => {
    const failed = fetchJars([A], { HTTPS_PROXY: 'ftp://me:s3cret@proxy.test:3128' });
    await expect(failed).rejects.toThrow(/is no address of a proxy(?![^]*s3cret)/);
    expect(asked).toEqual([]);
  });

  test('ends when it is interrupted', async () => {
    const stopping = new AbortController();
    serve = (_request, response) => {
      response.writeHead(200, { 'content-length': CONTENT.length }).write(CONTENT.subarray(0, 1_000));
      stopping.abort();
    };
    await expect(fetchJars([A], {}, stopping.signal)).rejects.toThrow('interrupted');
  });

  test('the pinned jars are those of one version of the broker', () => {
    const jars = pinnedJars();
    expect(jars.filter(({ path }) => path.startsWith('org/apache/kafka/kafka_2.13/'))).toHaveLength(1);
    for (const { path, file, digest } of jars) {
      expect([basename(path), /^[0-9a-f]{64}$/.test(digest)]).toEqual([file, true]);
    }
  });
});
