import { afterAll, beforeAll, expect, test } from 'vitest';
import { Installation } from '../../support/children/installation.ts';
import { startOtlpReceiver } from '../../support/fakes/otlp-receiver.ts';
import type { OtlpReceiver, ReceivedSpan } from '../../support/fakes/otlp-receiver.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { eventually } from '../../support/fixtures/eventually.ts';

let installation: Installation;
let receiver: WebhookReceiver;
let collector: OtlpReceiver;
let key: string;

beforeAll(async () => {
  [receiver, collector] = await Promise.all([startWebhookReceiver(), startOtlpReceiver()]);
  installation = await Installation.prepare({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: '1',
    LOG_LEVEL: 'info',
  });
  await installation.start();
  key = String(installation.admin('account', 'create', '--email', 'traces@example.com', '--pack', '9').api_key);
});
afterAll(async () => {
  await installation.remove();
  await Promise.all([receiver.stop(), collector.stop()]);
});

const byName = (spans: readonly ReceivedSpan[], name: string) => spans.filter((span) => span.name === name);

test('one trace follows an item from the crawl to the webhook', async () => {
  const body = { name: 'traces', keywords: ['rust', 'coffee', 'python'], nsfw: true, webhook_url: receiver.url };
  expect((await installation.call(key, 'POST', '/v1/monitors', body)).status).toBe(201);
  const { webhook, traceId, spans, batch } = await eventually('a traced webhook and its spans', () => {
    for (const received of receiver.received) {
      const [, id] = /^00-([0-9a-f]{32})-[0-9a-f]{16}-01$/.exec(String(received.headers.traceparent)) ?? [];
      const trace = collector.spans.filter((span) => span.traceId === id);
      const [recorded] = byName(trace, 'record');
      // The transaction of the batch is linked with the candidates that it recorded.
      const transaction = byName(collector.spans, 'record batch').find(({ links }) =>
        links.some(({ spanId }) => spanId === recorded?.spanId),
      );
      const isComplete = ['crawl', 'match', 'record', 'deliver'].every((name) => byName(trace, name).length > 0);
      if (id !== undefined && isComplete && transaction !== undefined)
        return { webhook: received, traceId: id, spans: trace, batch: transaction };
    }
    return undefined;
  });

  const match = (JSON.parse(webhook.body) as { match: { id: string; thing_id: string } }).match;
  const [crawl] = byName(spans, 'crawl');
  const [matched] = byName(spans, 'match');
  const [recorded] = byName(spans, 'record');
  const [delivered] = byName(spans, 'deliver');
  expect(crawl!.attributes).toContainEqual(attribute('forum.thing_id', match.thing_id));
  expect(crawl!.parentSpanId).toBeUndefined();
  expect(matched!.parentSpanId).toBe(crawl!.spanId);
  expect(recorded!.parentSpanId).toBe(matched!.spanId);
  expect(delivered!.parentSpanId).toBe(recorded!.spanId);
  expect(webhook.headers.traceparent).toBe(`00-${traceId}-${delivered!.spanId}-01`);
  expect(delivered!.attributes).toContainEqual(attribute('forum.match_id', match.id));
  expect(delivered!.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: 204 } });

  expect(batch.links).toContainEqual(expect.objectContaining({ traceId, spanId: recorded!.spanId }));
  await eventually('the attempt is logged with its trace', () =>
    installation.output.split('\n').some((line) => line.includes(traceId) && line.includes(match.id)),
  );
  expect(collector.faults).toEqual([]);
});

test('an answer of the API names its trace, unless the client named the request', async () => {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${installation.url}/v1/monitors`, { headers });
  const id = answer.headers.get('x-request-id')!;
  expect(id).toMatch(/^[0-9a-f]{32}$/);
  const span = await eventually('its span', () => collector.spans.find(({ traceId }) => traceId === id));
  expect(span).toMatchObject({ name: 'HTTP GET', kind: 2 });
  expect(span.attributes).toContainEqual(attribute('http.route', '/v1/monitors'));

  const [traceId, spanId] = ['1'.repeat(32), '2'.repeat(16)];
  const named = await fetch(`${installation.url}/v1/monitors/mon_unknown`, {
    headers: { ...headers, 'x-request-id': 'mine', traceparent: `00-${traceId}-${spanId}-01` },
  });
  expect(named.headers.get('x-request-id')).toBe('mine');
  const linked = await eventually("a span that is linked with the caller's", () =>
    collector.spans.find(({ links }) => links.some((link) => link.traceId === traceId && link.spanId === spanId)),
  );
  expect(linked.traceId).not.toBe(traceId);
  await eventually('the log names both', () =>
    installation.output
      .split('\n')
      .some((line) => line.includes('"requestId":"mine"') && line.includes(linked.traceId)),
  );
});

test('no span holds a key, the text of an item or the address of a webhook', async () => {
  let match = { body: '', author: '' };
  // A post that is a link has no text.
  await eventually('a match with a text', () => {
    const events = receiver.received.map(({ body }) => JSON.parse(body) as { match: typeof match });
    match = events.find((event) => event.match.body !== '')?.match ?? match;
    return match.body !== '';
  });
  const text = JSON.stringify(collector.spans);
  expect(text).not.toContain(key);
  expect(text).not.toContain(receiver.url);
  expect(text).not.toContain(match.body);
  expect(text).not.toContain(match.author);
});

function attribute(name: string, stringValue: string) {
  return { key: name, value: { stringValue } };
}
