import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { DataDirLock } from '../../../../../services/launcher/engines/data-dir-lock.ts';
import { readEndpoints, writeEndpoints } from '../../../../../shared/runtime/endpoints-file.ts';
import { kafkaProperties } from '../../../../../services/launcher/engines/kafka/kafka-properties.ts';
import { endOrphan, isOurs } from '../../../../../services/launcher/engines/orphan.ts';
import { reservePorts } from '../../../../../services/launcher/engines/ports.ts';
import { identifyProcess } from '../../../../../shared/runtime/process-identity.ts';

const root = mkdtempSync(join(tmpdir(), 'engine-plumbing-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const folder = () => mkdtempSync(join(root, 'case-'));
const sleeper = (...words: string[]) => spawn('/bin/sh', ['-c', 'sleep 60; true', ...words], { stdio: 'ignore' });

describe('identifyProcess', () => {
  test('knows a living process and none that ended', async () => {
    const child = sleeper('marker-1');
    expect(identifyProcess(child.pid!)?.command).toContain('marker-1');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(identifyProcess(child.pid!)).toBeUndefined();
  });
});

describe('orphans', () => {
  const record = { pid: 7, startedAt: 'boot:12', marker: '/data/kafka/server.properties' };

  test.each([
    ['the same process', { startedAt: 'boot:12', command: 'java kafka.Kafka /data/kafka/server.properties' }, true],
    ['another installation’s', { startedAt: 'boot:12', command: 'java kafka.Kafka /other/server.properties' }, false],
    ['a later process with its pid', { startedAt: 'boot:99', command: 'vi /data/kafka/server.properties' }, false],
    ['nothing', undefined, false],
  ])('recognises %s', (_, living, expected) => expect(isOurs(record, living)).toBe(expected));

  test('ends the process that the pid file names', async () => {
    const child = sleeper('orphan-of-ours');
    const ended = once(child, 'exit');
    const pidFile = join(folder(), 'x.pid');
    const { startedAt } = identifyProcess(child.pid!)!;
    writeFileSync(pidFile, JSON.stringify({ pid: child.pid, startedAt, marker: 'orphan-of-ours' }));
    expect(await endOrphan(pidFile, 'SIGTERM', 5_000)).toBe(true);
    expect((await ended)[1]).toBe('SIGTERM');
  });

  test.each([
    ['with another command line', { marker: 'something else' }],
    ['that started at another time', { startedAt: 'never' }],
  ])('leaves a process alone %s', async (_, change) => {
    const child = sleeper('not-ours');
    const pidFile = join(folder(), 'x.pid');
    const { startedAt } = identifyProcess(child.pid!)!;
    writeFileSync(pidFile, JSON.stringify({ pid: child.pid, startedAt, marker: 'not-ours', ...change }));
    expect(await endOrphan(pidFile, 'SIGKILL', 100)).toBe(false);
    expect(identifyProcess(child.pid!)).toBeDefined();
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  test.each(['', 'garbage', '{"pid":1}', '{"pid":1,"startedAt":"x","marker":""}'])(
    'ignores the pid file %j',
    async (text) => {
      const pidFile = join(folder(), 'x.pid');
      writeFileSync(pidFile, text);
      expect(await endOrphan(pidFile, 'SIGKILL', 100)).toBe(false);
    },
  );
});

describe('reservePorts', () => {
  const quiet = { progress: () => undefined };

  test('keeps its ports over restarts, outside the range of outgoing connections', async () => {
    const dataDir = folder();
    const first = await reservePorts(dataDir, ['kafka', 'postgres'], quiet);
    expect(first.kafka).not.toBe(first.postgres);
    for (const port of [first.kafka, first.postgres]) expect(port < 32_768 && port >= 20_000).toBe(true);
    expect(await reservePorts(dataDir, ['kafka', 'postgres'], quiet)).toEqual(first);
  });

  test('replaces a port that another program has taken, and says so', async () => {
    const dataDir = folder();
    const lines: string[] = [];
    const first = await reservePorts(dataDir, ['kafka', 'postgres'], quiet);
    const isFree = async (port: number) => port !== first.kafka;
    const second = await reservePorts(dataDir, ['kafka', 'postgres'], { progress: (line) => lines.push(line), isFree });
    expect(second.kafka).not.toBe(first.kafka);
    expect(second.postgres).toBe(first.postgres);
    expect(lines).toEqual([`port ${first.kafka} is taken by another program: kafka moves to ${second.kafka}`]);
  });
});

describe('DataDirLock', () => {
  test('refuses a second owner and names the first', async () => {
    const dataDir = folder();
    const lock = await DataDirLock.acquire(dataDir);
    await expect(DataDirLock.acquire(dataDir)).rejects.toThrow(`is in use by a running start (pid ${process.pid})`);
    lock.release();
    (await DataDirLock.acquire(dataDir)).release();
  });

  test('waits for an owner that is stopping', async () => {
    const dataDir = folder();
    const lock = await DataDirLock.acquire(dataDir);
    lock.markStopping();
    await expect(DataDirLock.acquire(dataDir, { waitMs: 0 })).rejects.toThrow(
      'is still held by a start that is stopping',
    );
    const next = DataDirLock.acquire(dataDir, { waitMs: 5_000, progress: () => lock.release() });
    (await next).release();
  });

  test('takes over from an owner that died, also when its pid lives on as another process', async () => {
    const dataDir = folder();
    const holder = { pid: process.pid, startedAt: 'an earlier boot', state: 'running' };
    writeFileSync(join(dataDir, 'lock'), JSON.stringify(holder));
    const lock = await DataDirLock.acquire(dataDir);
    expect(JSON.parse(readFileSync(join(dataDir, 'lock'), 'utf8'))).not.toEqual(holder);
    lock.release();
  });

  test.each(['', '{', 'null'])('takes over from the broken lock file %j', async (text) => {
    const dataDir = folder();
    writeFileSync(join(dataDir, 'lock'), text);
    (await DataDirLock.acquire(dataDir)).release();
  });

  test('says when the directory cannot be written to', async () => {
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    await expect(DataDirLock.acquire(join(file, 'data'))).rejects.toThrow('cannot be written to');
  });
});

describe('endpoints.json', () => {
  const endpoints = {
    api: 'a',
    metrics: 'm',
    kafka: 'k',
    postgres: 'p',
    clickhouse: 'c',
    simulator: 's',
    embedded: [],
  };

  test('is found while its process lives', () => {
    const dataDir = folder();
    writeEndpoints(dataDir, { pid: process.pid, ...endpoints });
    expect(readEndpoints(dataDir)).toEqual({ pid: process.pid, ...endpoints });
    writeEndpoints(dataDir, { pid: 2 ** 30, ...endpoints });
    expect(readEndpoints(dataDir)).toBeUndefined();
  });
});

describe('kafkaProperties', () => {
  const properties = new Map(
    kafkaProperties({ port: 21_001, controllerPort: 21_002, credential: { user: 'forum', password: 'p' } })
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/) as [string, string]),
  );

  test('keeps every internal topic on the one node', () => {
    for (const [name, value] of properties) {
      if (/replication\.factor$|min\.isr$/.test(name)) expect([name, value]).toEqual([name, '1']);
    }
    expect([...properties.keys()].filter((name) => name.endsWith('replication.factor'))).toHaveLength(4);
  });

  test('takes nobody without the password, on either listener', () => {
    expect(properties.get('listener.security.protocol.map')).toBe('CLIENT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT');
    for (const listener of ['client', 'controller']) {
      expect(properties.get(`listener.name.${listener}.plain.sasl.jaas.config`)).toContain('user_forum="p";');
    }
  });

  test('listens on loopback only', () => {
    for (const address of properties.get('listeners')!.split(',')) expect(address).toContain('://127.0.0.1:');
  });
});
