import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rotateSecret } from '../../../services/api/webhooks/rotate-secret.ts';
import { matchId } from '../../../shared/domain/identifiers.ts';
import { buildWebhookMessage } from '../../../shared/domain/webhooks/webhook-message.ts';
import type { WebhookMessage } from '../../../shared/domain/webhooks/webhook-request.ts';
import { newWebhookSecret } from '../../../shared/domain/webhooks/webhook-secret.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { DeliveryBench, secretBox } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';

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
    name: 'Node, in the README',
    readme: 'README.md',
    block: /<!-- receiver -->\s*```js\n([^]*?)```/,
    port: '9000',
    file: 'receiver.mjs',
    command: process.execPath,
    refusal: 400,
    printed: (_, seq) => `[ 'rust' ] https://forum.example/r/metals/comments/${seq}/`,
  },
  {
    name: "Node, in the deliverer's README",
    readme: 'services/deliverer/README.md',
    block: /```js\n([^]*?)```/,
    port: '9000',
    file: 'receiver.mjs',
    command: process.execPath,
    refusal: 401,
    printed: (id, seq) => `${matchId(id, seq)} [ 'rust' ] On rust https://forum.example/r/metals/comments/${seq}/`,
  },
  {
    name: "Python, in the deliverer's README",
    readme: 'services/deliverer/README.md',
    block: /```python\n([^]*?)```/,
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
        await bench.publishHints(id, [first, first + 1]);
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

    test.each([
      [-310, 'failed'],
      [-290, 'delivered'],
      [290, 'delivered'],
      [310, 'failed'],
    ])('answers a deliverer whose clock is %d seconds off with %s', async (seconds, status) => {
      await bench.addMatches(id, 1);
      await bench.startDeliverer({ clock: () => Date.now() + seconds * 1_000 });
      expect(await bench.settled(id)).toEqual([status]);
      expect(await statusesOf(id)).toEqual([status === 'failed' ? example.refusal : 204]);
    });

    async function post({ headers, body }: WebhookMessage): Promise<number> {
      return (await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })).status;
    }

    test('refuses requests that were changed on the way, and continues', async () => {
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
        ...['', 'nonsense', 't=,v1=', 't=1', 'v1=00', signature.slice(0, -1), `${signature}00`].map(signed),
        signed(signature.replace(/v1=.*/, 'v1=zz')),
        signed(signature.replace(/v1=.*/, `v1=${'0'.repeat(64)}`)),
        signed(signature.replace(/t=\d+/, (t) => `t=${Number(t.slice(2)) + 1}`)),
        signed(signature.replace(/t=\d+/, 't=soon')),
      ];
      for (const message of forged) expect(await post(message)).toBe(example.refusal);
      expect(output).not.toContain('comments/');
      expect(await post(genuine)).toBe(204);
      await eventually('the genuine one is printed', () => output.includes('comments/1/'));
    });

    test('prints a delivery once that arrives three times', async () => {
      for (const [seq, times] of [1, 3, 1].entries()) {
        for (let time = 0; time < times; time++) expect(await post(messageOf(id, secret, seq + 1))).toBe(204);
      }
      await eventually('the last one is printed', () => output.includes('comments/3/'));
      expect(output.split('\n').filter((line) => line.includes('comments/'))).toEqual(
        [1, 2, 3].map((seq) => example.printed(id, seq)),
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

function messageOf(monitorId: string, secret: string, seq = 1): WebhookMessage {
  const now = new Date().toISOString();
  // Sign with the secret after it was encrypted and decrypted.
  const opened = secretBox.open(secretBox.seal(secret, monitorId), monitorId);
  return buildWebhookMessage({
    kind: 'generic',
    monitor: { id: monitorId, name: 'metals' },
    match: {
      id: matchId(monitorId, seq),
      monitor_id: monitorId,
      thing_id: `t3_${seq}`,
      kind: 'post',
      subreddit: 'metals',
      author: 'smith',
      title: 'On rust',
      body: 'Iron and naïve 水 make rust.',
      permalink: `https://forum.example/r/metals/comments/${seq}/`,
      post_id: String(seq),
      created_utc: now,
      matched_terms: ['rust'],
      suppressed: false,
      delivery_status: 'pending',
      created_at: now,
      delivered_at: null,
    },
    secrets: [opened],
    now: Date.now(),
  });
}
