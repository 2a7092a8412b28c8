import { afterAll, beforeAll, expect, test } from 'vitest';
import { allMatches } from '../../support/clients/all-matches.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Installation } from '../../support/children/installation.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';

let installation: Installation;
let receiver: WebhookReceiver;
let key: string;
let monitor: string;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  installation = await Installation.prepare();
  await installation.start();
  key = String(installation.admin('account', 'create', '--email', 'crash@example.com', '--pack', '9').api_key);
  const body = { name: 'crashes', keywords: ['rust', 'coffee', 'python'], nsfw: true, webhook_url: receiver.url };
  const answer = await installation.call(key, 'POST', '/v1/monitors', body);
  monitor = (answer.body as { monitor: { id: string } }).monitor.id;
});
afterAll(async () => {
  await installation.remove();
  await receiver.stop();
});

async function ready(): Promise<boolean> {
  return (await fetch(`${installation.url}/readyz`)).status === 200;
}

/** Waits until matches created after the given time are delivered. */
async function expectFlowSince(time: number): Promise<void> {
  await eventually(
    'matches flow again',
    async () => {
      const matches = await allMatches(installation, key, monitor);
      return matches.some((match) => Date.parse(match.created_at) > time && match.delivery_status === 'delivered');
    },
    150_000,
  );
}

test.each([
  ['Kafka', 'kafka.Kafka'],
  ['PostgreSQL', '/bin/postgres'],
  ['ClickHouse', 'clickhouse-main'],
])('everything recovers by itself after kill -9 of %s', { timeout: 600_000 }, async (_engine, command) => {
  await expectFlowSince(0);
  const killed = installation.killOne(command);
  await eventually(
    'another process has replaced it, and everything answers',
    async () => ![killed, undefined].includes(installation.find(command)) && (await ready()),
    150_000,
  );
  await expectFlowSince(Date.now());
  const numbers = (await allMatches(installation, key, monitor)).map(({ id }) => Number(id.slice(-12)));
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});
