import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webhookEvent } from '../../../schemas/messages/webhook-event.ts';
import { matchId } from '../../../shared/domain/identifiers.ts';
import { DeliveryScenarioRun } from '../../support/oracles/delivery-scenario-run.ts';
import type { EndpointRequest } from '../../support/fakes/scripted-endpoint.ts';
import { DELIVERY_SCENARIOS, FIRST } from './scenarios.cases.ts';

let deliveries: DeliveryScenarioRun;
beforeAll(async () => {
  deliveries = await DeliveryScenarioRun.create();
});
afterAll(() => deliveries.drop());

test.each(DELIVERY_SCENARIOS)('$name', async ({ name, attempts, waits, ends }) => {
  const { id, endpoint } = deliveries.of(name);
  // Each attempt was made exactly when it was due, with the expected outcome.
  const made = deliveries.attemptsOf(name);
  expect(made.map(({ status, error }) => [status, error])).toEqual(attempts);
  expect(made.map(({ attempt }) => attempt)).toEqual(attempts.map((_, index) => index + 1));
  let due = deliveries.begun.getTime();
  for (const [index, { started_at, duration_ms, next_attempt_at, delivery_status }] of made.entries()) {
    // The clock is frozen during an attempt, so its end equals the time at which it was due.
    const ended = started_at.getTime() + duration_ms;
    expect(ended).toBe(due);
    const wait = waits[index] ?? (index === made.length - 1 && ends === 'skipped' ? FIRST : undefined);
    expect(next_attempt_at?.getTime()).toBe(wait === undefined ? undefined : ended + wait * 1_000);
    expect(delivery_status).toBe(wait === undefined ? ends : 'pending');
    due = next_attempt_at?.getTime() ?? 0;
  }

  // The match is in the expected state, and a failure counts once for the endpoint.
  const state = { delivery_status: ends, attempt: attempts.length, is_leased: false };
  expect(await deliveries.bench.states(id)).toMatchObject([{ ...state, is_delivered: ends === 'delivered' }]);
  const { rows } = await deliveries.bench.db.pool.query<{ failures: number; webhook_failing: boolean }>(
    'SELECT failures, webhook_failing FROM monitor_health WHERE monitor_id = $1',
    [id],
  );
  expect(rows[0]?.failures ?? 0).toBe(ends === 'failed' ? 1 : 0);
  expect(rows[0]?.webhook_failing ?? false).toBe(false);

  // The delivery log and monitor.deliveries have the same attempts, each once.
  const told = made.map(({ monitor_id: _, started_at, next_attempt_at, ...rest }) => ({
    ...rest,
    match_id: matchId(id, 1),
    started_at: started_at.toISOString(),
    next_attempt_at: next_attempt_at?.toISOString() ?? null,
  }));
  const reply = await deliveries.api.call(deliveries.owner.apiKey, 'GET', `/v1/monitors/${id}/deliveries`);
  if (name === 'the monitor is deleted') expect(reply.status).toBe(404);
  else expect(reply.body).toEqual({ items: told.toReversed(), after: null });
  expect(deliveries.publishedOf(name).toSorted((a, b) => a.attempt - b.attempt)).toEqual(
    told.map(({ response_excerpt: _, ...rest }) => ({ v: 1, monitor_id: id, seq: 1, ...rest })),
  );
  for (const { response_excerpt } of told) expect((response_excerpt ?? '').length).toBeLessThanOrEqual(500);

  // The endpoint received each attempt once, and every generic one with the same id.
  const seen = deliveries.requestsOf(name);
  expect(seen).toHaveLength(endpoint === undefined ? attempts.length : 0);
  const generic = seen.filter(({ body }) => 'match' in (JSON.parse(body.toString()) as object));
  for (const { headers } of generic) expect(headers['x-service-delivery']).toBe(matchId(id, 1));
  expect(deliveries.receivedOf(name)).toHaveLength(generic.length);
});

describe('an attempt uses the present state of its monitor', () => {
  const requestsOf = (name: string) => deliveries.receivedOf(name);
  const paths = (name: string) => requestsOf(name).map(({ path }) => path);

  test('the URL', () => {
    const name = 'the URL is changed';
    const index = DELIVERY_SCENARIOS.findIndex((scenario) => scenario.name === name);
    expect(paths(name)).toEqual([`/${index}`, `/${deliveries.of(name).id}`]);
  });

  test('the secret, and the previous secret signs as well', () => {
    const { secret: before, answered } = deliveries.of('the secret is rotated');
    const [first, second] = requestsOf('the secret is rotated') as [EndpointRequest, EndpointRequest];
    const signs = (secret: string, { headers, body }: EndpointRequest, name = 'x-service-signature') =>
      new Stripe('unused').webhooks.constructEvent(body, headers[name] as string, secret, 300);
    signs(before, first);
    signs(answered.webhook_secret as string, second);
    signs(before, second, 'x-service-signature-previous');
    expect(first.headers).not.toHaveProperty('x-service-signature-previous');
  });

  test('the kind', () => {
    const name = 'the kind is changed';
    expect(deliveries.attemptsOf(name).map(({ webhook_kind }) => webhook_kind)).toEqual(['generic', 'slack']);
    const index = DELIVERY_SCENARIOS.findIndex((scenario) => scenario.name === name);
    const bodies = deliveries.scripted.received
      .filter(({ path }) => path === `/${index}`)
      .map(({ body }) => JSON.parse(String(body)) as object);
    expect(bodies).toEqual([
      expect.objectContaining({ type: 'monitor.match' }),
      expect.objectContaining({ blocks: expect.anything() as object }),
    ]);
  });

  test('the name, but the terms that were matched', () => {
    const [first, second] = requestsOf('the name and the rule are changed').map(({ body }) =>
      webhookEvent.parse(JSON.parse(String(body))),
    );
    expect([first!.monitor.name, second!.monitor.name]).toEqual(['metals', 'alloys']);
    expect(second!.match).toEqual(first!.match);
    expect(second!.match.matched_terms).toEqual(['rust']);
  });

  test('the content, which is blank after the forum removed the thing', () => {
    const [first, second] = requestsOf('the thing is removed').map(
      ({ body }) => webhookEvent.parse(JSON.parse(String(body))).match,
    );
    expect(first).toMatchObject({ author: 'smith', title: 'On rust' });
    expect(second).toEqual({ ...first, author: '[deleted]', title: '', body: '' });
  });

  test('a resend ignores matches that are still pending', () => {
    const { answered } = deliveries.of('a resend is asked for, of what is still pending');
    expect(answered).toEqual({ queued: 0, more: false });
  });
});
