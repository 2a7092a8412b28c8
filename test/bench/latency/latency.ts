/**
 * Measures the time from "visible upstream" and from Kafka's append time to "webhook received", with the built-in
 * simulator. Baseline in the same run and on the same broker: a bare three-hop kafkajs echo.
 *
 * Arguments: seconds (default 60) and items per second (default 20).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { Installation } from '../../support/children/installation.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { ReceivedWebhook } from '../../support/fakes/webhook-receiver.ts';
import { threeHopEcho } from './echo.ts';
import type { Report } from '../main.ts';
import { percentiles } from '../shared/percentiles.ts';

interface Emitted {
  name: string;
  /** Milliseconds since the epoch. */
  visible_at: number;
}

interface Recorded {
  thing_id: string;
  first_seen_at: Date;
  entered_at: Date;
  created_at: Date;
}

export default async function latency(report: Report, args: string[]): Promise<void> {
  const seconds = Number(args[0] ?? 60);
  const rate = Number(args[1] ?? 20);
  const receiver = await startWebhookReceiver();
  const installation = await Installation.prepare({ SIMULATOR_RATE: String(rate) });
  const emittedLog = join(installation.dataDir, 'emitted.jsonl');
  installation.env.SIMULATOR_EMITTED_LOG = emittedLog;
  try {
    report({ event: 'ready', first_start_ms: Math.round(await installation.start()) });
    await createMonitors(installation, receiver.url);
    // The first seconds compile code and fill caches, so they are not measured.
    await wait(10_000);
    const from = Date.now();
    await wait(seconds * 1000);
    const measured = receiver.received.filter(({ at }) => at >= from);
    const brokers = [installation.endpoints().kafka.replace('kafka://', '')];
    report({ hop: 'three-hop echo (bare kafkajs)', ...percentiles(await threeHopEcho(brokers, rate * 15, rate)) });
    await reportLatencies(report, installation, measured, emittedLog, rate);
  } finally {
    await installation.remove();
    await receiver.stop();
  }
}

async function createMonitors(installation: Installation, webhook: string): Promise<void> {
  const account = installation.admin(
    'account',
    'create',
    '--email',
    'bench@example.com',
    '--credits',
    '100',
    '--pack',
    '79',
  );
  for (const keywords of [
    ['rust', 'coffee'],
    ['python', 'release'],
    ['update', 'the'],
    ['and', 'with'],
  ]) {
    const body = { name: keywords.join(' '), keywords, nsfw: true, webhook_url: webhook };
    const answer = await installation.call(String(account.api_key), 'POST', '/v1/monitors', body);
    if (answer.status !== 201) throw new Error(`no monitor: ${JSON.stringify(answer.body)}`);
  }
}

async function reportLatencies(
  report: Report,
  installation: Installation,
  webhooks: ReceivedWebhook[],
  emittedLog: string,
  rate: number,
): Promise<void> {
  const visible = new Map<string, number>();
  for (const line of readFileSync(emittedLog, 'utf8').split('\n')) {
    if (line === '') continue;
    const { name, visible_at } = JSON.parse(line) as Emitted;
    visible.set(name, visible_at);
  }
  const client = new pg.Client({ connectionString: installation.endpoints().postgres });
  await client.connect();
  const { rows } = await client.query<Recorded>('SELECT thing_id, first_seen_at, entered_at, created_at FROM matches');
  await client.end();
  const recorded = new Map(rows.map((row) => [row.thing_id, row]));
  const legs = {
    visible: [] as number[],
    seen: [] as number[],
    entered: [] as number[],
    recorded: [] as number[],
    poll: [] as number[],
  };
  for (const { body, at } of webhooks) {
    const thing = (JSON.parse(body) as { match: { thing_id: string } }).match.thing_id;
    const row = recorded.get(thing);
    const visibleAt = visible.get(thing);
    if (!row || visibleAt === undefined) continue;
    legs.visible.push(at - visibleAt);
    legs.poll.push(row.first_seen_at.getTime() - visibleAt);
    legs.seen.push(at - row.first_seen_at.getTime());
    legs.entered.push(at - row.entered_at.getTime());
    legs.recorded.push(at - row.created_at.getTime());
  }
  const samples = legs.entered.length;
  report({ hop: 'visible upstream to seen by the crawler', samples, ...percentiles(legs.poll) });
  report({ hop: 'recorded to webhook received', samples, ...percentiles(legs.recorded) });
  report({
    hop: 'Kafka append to webhook received',
    items_per_second: rate,
    samples,
    goal_p50: 60,
    goal_p99: 150,
    ...percentiles(legs.entered),
  });
  report({ hop: 'visible upstream to webhook received', samples, goal_p50: 1000, ...percentiles(legs.visible) });
}
