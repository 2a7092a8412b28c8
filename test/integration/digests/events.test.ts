import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { digestEvent, spikeEvent } from '../../../schemas/messages/monitor-event.ts';
import { makeDigests } from '../../../services/biller/digests.ts';
import { claimDueEvents, recordEventOutcome, insertMonitorEvent } from '../../../shared/deliveries/event-deliveries.ts';
import type { ClaimedEvent } from '../../../shared/deliveries/event-deliveries.ts';
import { answerAsDiscord } from '../../support/fakes/strict-discord.ts';
import { answerAsSlack } from '../../support/fakes/strict-slack.ts';
import { DeliveryBench } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { recordMatches } from '../../support/fixtures/deliveries/digest-jobs.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { DASHBOARD_URL } from '../../support/fixtures/notices/notice-jobs.ts';

let bench: DeliveryBench;
beforeAll(async () => {
  bench = await DeliveryBench.create();
});
afterEach(async () => {
  await bench.db.pool.query('DELETE FROM monitor_events');
  await bench.reset();
});
afterAll(async () => {
  await bench.db.drop();
});

const SPIKE = { at: '2026-03-04T13:00:00.000Z', interval: 'hour', count: 57, expected: 4, score: 11.2 };
const addSpike = (monitorId: string, key = SPIKE.at) =>
  insertMonitorEvent(bench.db.pool, { monitorId, kind: 'monitor.spike', key, payload: SPIKE });

const LEASE = { token: '00000000-0000-4000-8000-000000000001', lengthMs: 20_000 };

/** Stores that an attempt has failed. */
function endAttempt({ monitorId, seq, leaseToken, webhookUrl }: ClaimedEvent, deliveryStatus: 'pending' | 'failed') {
  const outcome = { httpStatus: 500, error: 'http_status', deliveryStatus };
  const delayMs = deliveryStatus === 'pending' ? 30_000 : null;
  return recordEventOutcome(bench.db.pool, { monitorId, seq, leaseToken, webhookUrl, ...outcome, delayMs });
}

interface EventState {
  delivery_status: string;
  attempt: number;
  last_status: number | null;
  last_error: string | null;
  is_leased: boolean;
  due_in: number | null;
}

async function stateOf(monitorId: string): Promise<EventState[]> {
  const { rows } = await bench.db.pool.query<EventState>(
    `SELECT delivery_status, attempt, last_status, last_error, lease_until > service_now() IS TRUE AS is_leased,
       extract(epoch FROM next_attempt_at - service_now())::float8 AS due_in
     FROM monitor_events WHERE monitor_id = $1 ORDER BY seq`,
    [monitorId],
  );
  return rows;
}

const settled = (monitorId: string) =>
  eventually('the events are settled', async () => {
    const states = await stateOf(monitorId);
    return states.every(({ delivery_status }) => delivery_status !== 'pending') && states;
  });

async function digestOf(monitorId: string): Promise<void> {
  await bench.db.pool.query(`UPDATE monitor_digests SET due_at = service_now() WHERE monitor_id = $1`, [monitorId]);
  const { rows } = await bench.db.pool.query<{ id: string }>('SELECT account_id AS id FROM monitors WHERE id = $1', [
    monitorId,
  ]);
  await makeDigests({ pool: bench.db.pool, dashboardUrl: DASHBOARD_URL }, rows[0]!.id);
}

async function addDigestMonitor(url: string, kind?: string): Promise<{ id: string; secret: string }> {
  const monitor = await bench.addMonitor(url, kind);
  await bench.db.pool.query(
    `WITH lock_row AS (INSERT INTO monitor_counters (monitor_id) VALUES ($1))
     INSERT INTO monitor_versions (monitor_id, version, since) VALUES ($1, 1, wall_now() - interval '1 minute')`,
    [monitor.id],
  );
  await bench.db.pool.query(
    `UPDATE monitors SET digest = 'hourly', active_since = wall_now() - interval '1 minute' WHERE id = $1`,
    [monitor.id],
  );
  return monitor;
}

test('a spike is stored once a monitor and hour, signed, delivered once, by one of two processes', async () => {
  const receiver = await bench.startReceiver((_, response) => response.writeHead(204).end());
  const { id, secret } = await bench.addMonitor(receiver.url);
  expect([await addSpike(id), await addSpike(id)]).toEqual([true, false]);
  await bench.startDeliverer();
  await bench.startDeliverer();
  expect(await settled(id)).toMatchObject([
    { delivery_status: 'delivered', attempt: 1, last_status: 204, last_error: null, is_leased: false, due_in: null },
  ]);
  expect(receiver.received).toHaveLength(1);
  const { headers, body } = receiver.received[0]!;
  expect(() => new Webhook(secret).verify(body, headers as Record<string, string>)).not.toThrow();
  const event = spikeEvent.parse(JSON.parse(body.toString()));
  expect(event).toMatchObject({ type: 'monitor.spike', monitor: { id, name: 'metals' }, spike: SPIKE });
  expect(headers['x-service-delivery']).toMatch(/^evt_/);
  expect(headers['webhook-id']).toBe(headers['x-service-delivery']);
});

test('a digest with a webhook is one event with the first 100 matches as they are then; the next has the rest', async () => {
  const receiver = await bench.startReceiver((_, response) => response.writeHead(200).end());
  const { id } = await addDigestMonitor(receiver.url);
  const first = await recordMatches(bench.db.pool, id, 103);
  await digestOf(id);
  const later = await recordMatches(bench.db.pool, id, 2);
  // The digest before is not delivered yet.
  await digestOf(id);
  expect(await stateOf(id)).toHaveLength(1);
  await bench.db.pool.query(
    `UPDATE matched_items SET author = '[deleted]', title = '', body = '' WHERE thing_id = $1`,
    [first[1]],
  );
  await bench.startDeliverer();
  await settled(id);
  await digestOf(id);
  await settled(id);
  const events = receiver.received.map(({ body }) => digestEvent.parse(JSON.parse(body.toString())));
  expect(events).toHaveLength(2);
  const [{ digest }, next] = events as [(typeof events)[0], (typeof events)[0]];
  expect(digest.matches.map(({ thing_id }) => thing_id)).toEqual(first.slice(0, 100));
  expect(digest).toMatchObject({ interval: 'hourly', count: 103, more: 3 });
  expect(digest.url).toBe(`${DASHBOARD_URL}/dashboard/monitors/${id}`);
  expect(digest.matches[1]).toMatchObject({ author: '[deleted]', title: '', body: '', delivery_status: 'none' });
  expect(next.digest.matches.map(({ thing_id }) => thing_id)).toEqual(later);
});

test('failures climb the ladder of matches, count for the health of the webhook, and a success ends them', async () => {
  let status = 503;
  const receiver = await bench.startReceiver((_, response) => response.writeHead(status).end());
  const { id } = await bench.addMonitor(receiver.url);
  await addSpike(id);
  await bench.db.freeze();
  await bench.startDeliverer({ random: () => 0 });
  const [retried] = await eventually('it was attempted', async () => {
    const states = await stateOf(id);
    return states[0]!.attempt === 1 && states;
  });
  expect(retried).toMatchObject({ delivery_status: 'pending', last_status: 503, last_error: 'http_status' });
  expect(retried!.due_in).toBe(30);
  status = 400;
  await bench.db.freeze('31 seconds');
  expect(await settled(id)).toMatchObject([{ delivery_status: 'failed', attempt: 2, last_status: 400 }]);
  const health = async () => {
    const text = 'SELECT failures, webhook_failing FROM monitor_health WHERE monitor_id = $1';
    return (await bench.db.pool.query<Record<string, unknown>>(text, [id])).rows;
  };
  expect(await health()).toEqual([{ failures: 1, webhook_failing: false }]);
  await bench.db.pool.query('UPDATE monitor_health SET failures = 49 WHERE monitor_id = $1', [id]);
  await addSpike(id, 'another hour');
  await settled(id);
  expect(await health()).toEqual([{ failures: 50, webhook_failing: true }]);
  status = 200;
  await addSpike(id, 'a third hour');
  await settled(id);
  expect(await health()).toEqual([{ failures: 0, webhook_failing: true }]);
  await eventually('all attempts are counted', async () => {
    const { values } = await bench.metrics.monitorEvents.get();
    const of = (outcome: string) => values.find(({ labels }) => labels.outcome === outcome)?.value;
    return of('retried') === 1 && of('failed') === 2 && of('delivered') === 1;
  });
});

test('what a killed process claimed is sent again with the same id after its lease, and its late outcome is refused', async () => {
  const receiver = await bench.startReceiver((_, response) => response.writeHead(200).end());
  const { id } = await bench.addMonitor(receiver.url);
  await addSpike(id);
  await bench.db.freeze();
  const [claimed] = await claimDueEvents(bench.db.pool, { monitorId: id, limit: 5 }, LEASE);
  expect(await claimDueEvents(bench.db.pool, { monitorId: id, limit: 5 }, LEASE)).toEqual([]);
  await bench.startDeliverer();
  expect(receiver.received).toHaveLength(0);
  await bench.db.freeze('21 seconds');
  expect(await settled(id)).toMatchObject([{ delivery_status: 'delivered', attempt: 1 }]);
  expect(receiver.received[0]!.headers['x-service-delivery']).toBe(claimed!.id);
  expect(await endAttempt(claimed!, 'failed')).toBeUndefined();
  const { rows } = await bench.db.pool.query('SELECT FROM monitor_health WHERE monitor_id = $1', [id]);
  expect(rows).toEqual([]);
});

test('events of a monitor that is deleted or lost its webhook are skipped', async () => {
  const receiver = await bench.startReceiver((_, response) => response.writeHead(200).end());
  const [deleted, without] = [await bench.addMonitor(receiver.url), await bench.addMonitor(null)];
  await bench.db.pool.query(`UPDATE monitors SET status = 'deleted' WHERE id = $1`, [deleted.id]);
  for (const { id } of [deleted, without]) await addSpike(id);
  await bench.startDeliverer();
  expect(await settled(deleted.id)).toMatchObject([{ delivery_status: 'skipped', attempt: 0 }]);
  expect(await settled(without.id)).toMatchObject([{ delivery_status: 'skipped', attempt: 0 }]);
  expect(receiver.received).toHaveLength(0);
});

test('Slack and Discord accept the messages of digests and spikes, whatever the texts contain', async () => {
  for (const kind of ['slack', 'discord']) {
    const receiver = await bench.startReceiver(({ body, path }, response) => {
      const { status, body: text } =
        kind === 'slack' ? answerAsSlack(body.toString()) : answerAsDiscord(path, body.toString());
      response.writeHead(status).end(text);
    });
    const { id } = await addDigestMonitor(receiver.url, kind);
    await bench.db.pool.query(
      `UPDATE monitors SET name = '@everyone <!channel> **[x](https://e.example)|' WHERE id = $1`,
      [id],
    );
    const things = await recordMatches(bench.db.pool, id, 12);
    await bench.db.pool.query(
      `UPDATE matched_items SET title = repeat('<@U1>|*_[a](b)@everyone ', 40) WHERE thing_id = $1`,
      [things[0]],
    );
    await bench.db.pool.query(`UPDATE matched_items SET title = '', permalink = 'javascript:x' WHERE thing_id = $1`, [
      things[1],
    ]);
    await digestOf(id);
    await addSpike(id);
    await bench.startDeliverer();
    expect(await settled(id)).toMatchObject([{ delivery_status: 'delivered' }, { delivery_status: 'delivered' }]);
    const [first] = receiver.received.map(({ body }) => body.toString());
    expect(first).toContain('12 new matches');
    expect(first).toContain('and 2 more');
    // Discord shows a footer, which has the name, literally.
    expect(first).not.toMatch(kind === 'slack' ? /<!channel>|javascript:/ : /javascript:/);
    await bench.reset();
  }
});
