import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import type { RunningEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { identifyProcess } from '../../../shared/runtime/process-identity.ts';
import { parseBrokers } from '../../../shared/kafka/broker-list.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'forum-kafka-access-'));
let engines: RunningEngines<'kafka'>;

beforeAll(async () => {
  engines = await startEngines({ dataDir, env: process.env, engines: ['kafka'], kafkaHeapMb: 256 });
});
afterAll(async () => {
  await engines.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function listTopics(options: Partial<kafkajs.KafkaConfig>, port = engines.ports.kafka): Promise<string[]> {
  const { Kafka, logLevel } = kafkajs;
  const brokers = [`127.0.0.1:${port}`];
  const client = new Kafka({ brokers, logLevel: logLevel.NOTHING, retry: { retries: 0 }, ...options });
  const admin = client.admin();
  try {
    await admin.connect();
    return await admin.listTopics();
  } finally {
    await admin.disconnect();
  }
}

test('the embedded broker accepts only clients with its credential', async () => {
  const { sasl } = parseBrokers([engines.urls.kafka]);
  expect(await listTopics({ sasl: sasl! })).toEqual([]);
  await expect(listTopics({})).rejects.toThrow();
  for (const wrong of [
    { username: 'forum', password: '' },
    { username: 'forum', password: 'wrong' },
    { username: 'admin', password: new URL(engines.urls.kafka).password },
  ]) {
    await expect(listTopics({ sasl: { mechanism: 'plain', ...wrong } })).rejects.toThrow();
  }
});

test("the broker's password is only in files that only the owner can read, and in no argument of its process", () => {
  const { password } = new URL(engines.urls.kafka);
  expect(password.length).toBeGreaterThanOrEqual(32);
  expect(statSync(join(dataDir, 'secrets', 'kafka')).mode & 0o777).toBe(0o600);
  expect(statSync(join(dataDir, 'kafka', 'server.properties')).mode & 0o777).toBe(0o600);
  expect(identifyProcess(engines.process('kafka').pid)?.command).not.toContain(password);
  expect(readFileSync(join(dataDir, 'logs', 'kafka.log'), 'utf8')).not.toContain(password);
});
