import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rotateSecret } from '../../../services/api/deliveries/webhook-routes.ts';
import { buildWebhookMessage, newWebhookSecret } from '../../../shared/deliveries/rules/webhook-message.ts';
import type { WebhookContent, WebhookMessage } from '../../../shared/deliveries/rules/webhook-message.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { DeliveryBench, secretBox } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { chatMatch } from '../../support/samples/chat-matches.ts';

const ROOT = join(import.meta.dirname, '../../..');

interface Example {
  name: string;
  readme: string;
  /** Matches the text of the example. */
  block: RegExp;
  /** Address on which the example listens, as written. */
  port: string;
  file: string;
  command: string;
  /** Status of its answer to a request that is not genuine. */
  refusal: number;
  /** The line it prints for the match with that number. */
  printed: (id: string, seq: number) => string;
}

const EXAMPLES: Example[] = [
  {
    name: 'Node, in the guide',
    readme: 'docs/guide/webhooks.md',
    block: /<!-- receiver -->\s*```js\n([^]*?)```/,
    port: '9000',
    file: 'receiver.mjs',
    command: process.execPath,
    refusal: 400,
    printed: (_, seq) => `[ 'rust' ] https://forum.example/r/metals/comments/${seq}/`,
  },
  {
    name: 'Python, in the guide',
    readme: 'docs/guide/webhooks.md',
    block: /<!-- receiver-python -->\s*```python\n([^]*?)```/,
    port: '9000',
    file: 'receiver.py',
    command: 'python3',
    refusal: 401,
    printed: (id, seq) => `${matchId(id, seq)} ['rust'] On rust https://forum.example/r/metals/comments/${seq}/`,
  },
];

const isThere = (command: string) => spawnSync(command, ['--version']).status === 0;

let bench: DeliveryBench;
const folder = mkdtempSync(join(tmpdir(), 'forum-test-receivers-'));
beforeAll(async () => {
  bench = await DeliveryBench.create();
});
afterEach(() => bench.reset());
afterAll(async () => {
  await bench.db.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** The example as written, but on a free port. */
function exampleText({ readme, block, port }: Example, freePort: number): string {
  const text = block.exec(readFileSync(join(ROOT, readme), 'utf8'))?.[1];
  if (text === undefined) throw new Error(`${readme} has no such receiver`);
  expect(text.split(port)).toHaveLength(2);
  return text.replace(port, String(freePort));
}

describe.each(EXAMPLES)('$name', (example) => {
  describe.skipIf(!isThere(example.command))(`run by ${example.command.split('/').at(-1)!}`, () => {
    let receiver: ChildProcess;
    let url: string;
    let output: string;
    let id: string;
    let secret: string;
    let path: string;

    beforeEach(async () => {
      const port = await freePort();
      url = `http://127.0.0.1:${port}/`;
      ({ id, secret } = await bench.addMonitor(url));
      path = join(folder, example.file);
      writeFileSync(path, exampleText(example, port));
      output = '';
      await startWith(secret);
    });

    async function startWith(secrets: string): Promise<void> {
      const { PATH, HOME } = process.env;
      receiver = spawn(example.command, [path], { env: { PATH, HOME, WEBHOOK_SECRET: secrets } });
      receiver.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()));
      receiver.stderr!.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await eventually('it listens', async () => (await fetch(url)).status >= 400);
    }

    async function restartWith(secrets: string): Promise<void> {
      const ended = once(receiver, 'exit');
      receiver.kill('SIGKILL');
      await ended;
      await startWith(secrets);
    }
    afterEach(() => {
      expect(receiver.exitCode).toBeNull();
      receiver.kill('SIGKILL');
    });

    const statusesOf = async (monitorId: string) => {
      const { rows } = await bench.db.pool.query<{ status: number }>(
        'SELECT status FROM delivery_attempts WHERE monitor_id = $1 ORDER BY seq, attempt',
        [monitorId],
      );
      return rows.map(({ status }) => status);
    };

    test('accepts what the deliverer sends and refuses what another monitor signed', async () => {
      const other = await bench.addMonitor(url);
      await bench.addMatches(id, 3);
      await bench.addMatches(other.id, 2);
      await bench.startDeliverer();
      expect(await bench.settled(id)).toEqual(['delivered', 'delivered', 'delivered']);
      expect(await bench.settled(other.id)).toEqual(['failed', 'failed']);
      expect(await statusesOf(id)).toEqual([204, 204, 204]);
      expect(await statusesOf(other.id)).toEqual([example.refusal, example.refusal]);
      for (const seq of [1, 2, 3]) {
        await eventually('it is printed', () => output.split('\n').includes(example.printed(id, seq)));
      }
      expect(
        output
          .trim()
          .split('\n')
          .filter((line) => line.includes('comments/')),
      ).toHaveLength(3);
    });

    test('no delivery fails while the secret is rotated as documented', async () => {
      await bench.startDeliverer();
      const deliver = async (first: number) => {
        await bench.addMatches(id, 2, '0 s', first);
        await bench.publishWakeUps(id, [first, first + 1]);
        expect(new Set(await bench.settled(id))).toEqual(new Set(['delivered']));
      };
      const signedBefore = messageOf(id, secret);
      const next = await rotated(id);
      await deliver(1);
      await restartWith(`${next} ${secret}`);
      await deliver(3);
      expect(await post(signedBefore)).toBe(204);
      await bench.db.setShift('24 hours');
      await restartWith(next);
      await deliver(5);
      expect(await statusesOf(id)).toEqual(Array.from({ length: 6 }, () => 204));
      for (let seq = 1; seq <= 6; seq++) {
        await eventually('it is printed', () => output.split('\n').includes(example.printed(id, seq)));
      }
      expect(await post(messageOf(id, secret))).toBe(example.refusal);
    }, 120_000);

    async function post({ headers, body }: WebhookMessage): Promise<number> {
      return (await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })).status;
    }

    test('accepts events of other types, prints nothing for them, and goes on', async () => {
      for (const message of eventsOf(id, secret)) expect(await post(message)).toBe(204);
      expect(await post(messageOf(id, secret))).toBe(204);
      await eventually('the match is printed', () => output.includes(example.printed(id, 1)));
      // Python's server logs each request, and a fault would be printed with its place in the file.
      const printed = output.split('\n').filter((line) => line !== '' && !/^127\.0\.0\.1 - - /.test(line));
      expect(printed).toEqual([example.printed(id, 1)]);
    });

    test('refuses what was changed on the way or signed at another time, and prints once what comes three times', async () => {
      const genuine = messageOf(id, secret);
      const signature = genuine.headers['X-Service-Signature']!;
      const signed = (header: string): WebhookMessage => ({
        ...genuine,
        headers: { ...genuine.headers, 'X-Service-Signature': header },
      });
      const { 'X-Service-Signature': _, ...unsigned } = genuine.headers;
      const forged = [
        { ...genuine, headers: unsigned },
        { ...genuine, body: Buffer.from(genuine.body.toString().replace('On rust', 'On dust')) },
        { ...genuine, body: Buffer.concat([genuine.body, Buffer.from(' ')]) },
        { ...genuine, body: genuine.body.subarray(1) },
        messageOf(id, newWebhookSecret()),
        messageOf(id, secret, -310),
        messageOf(id, secret, 310),
        ...['', 'nonsense', 't=,v1=', 't=1', 'v1=00', signature.slice(0, -1), `${signature}00`].map(signed),
        signed(signature.replace(/v1=.*/, 'v1=zz')),
        signed(signature.replace(/v1=.*/, `v1=${'0'.repeat(64)}`)),
        signed(signature.replace(/t=\d+/, (t) => `t=${Number(t.slice(2)) + 1}`)),
        signed(signature.replace(/t=\d+/, 't=soon')),
      ];
      for (const message of forged) expect(await post(message)).toBe(example.refusal);
      expect(output).not.toContain('comments/');
      for (const message of [genuine, genuine, messageOf(id, secret, -290), messageOf(id, secret, 290)]) {
        expect(await post(message)).toBe(204);
      }
      await bench.addMatches(id, 1, '0 s', 2);
      await bench.startDeliverer();
      await eventually('the next match is printed', () => output.includes('comments/2/'));
      expect(output.split('\n').filter((line) => line.includes('comments/'))).toEqual(
        [1, 2].map((seq) => example.printed(id, seq)),
      );
    });
  });
});

/** Rotates the secret of a monitor, as its owner does; returns the new one. */
async function rotated(monitorId: string): Promise<string> {
  const { pool } = bench.db;
  const { rows } = await pool.query<{ account: string }>('SELECT account_id AS account FROM monitors WHERE id = $1', [
    monitorId,
  ]);
  return inTransaction(pool, (client) => rotateSecret(client, secretBox, rows[0]!.account, monitorId));
}

/** What else the webhook of a monitor is told: a digest and a spike. */
function eventsOf(monitorId: string, secret: string): WebhookMessage[] {
  const opened = secretBox.open(secretBox.seal(secret, monitorId), monitorId);
  const build = (content: object, index: number) =>
    buildWebhookMessage({
      id: `evt_${index}`,
      kind: 'generic',
      monitor: { id: monitorId, name: 'metals' },
      content: content as WebhookContent,
      secrets: [opened],
      now: Date.now(),
    });
  return [
    { type: 'monitor.digest', digest: { count: 2 } },
    { type: 'monitor.spike', spike: { matches: 20 } },
  ].map(build);
}

/** The webhook of a monitor's first match, signed so many seconds from now. */
function messageOf(monitorId: string, secret: string, seconds = 0): WebhookMessage {
  const now = Date.now() + seconds * 1_000;
  // Sign with the secret after it was encrypted and decrypted.
  const opened = secretBox.open(secretBox.seal(secret, monitorId), monitorId);
  const id = matchId(monitorId, 1);
  const permalink = 'https://forum.example/r/metals/comments/1/';
  const match = chatMatch({ id, monitor_id: monitorId, title: 'On rust', permalink });
  return buildWebhookMessage({
    id,
    kind: 'generic',
    monitor: { id: monitorId, name: 'metals' },
    content: { type: 'monitor.match', match },
    secrets: [opened],
    now,
  });
}
