import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { webhookEvent } from '../../../../../schemas/messages/monitor-event.ts';
import { buildWebhookMessage } from '../../../../../shared/deliveries/rules/webhook-message.ts';
import { chatMatch } from '../../../../support/samples/chat-matches.ts';

const MATCH = chatMatch({ body: '<!channel> @everyone **rust** & [more](https://x.example)' });
const INPUT = {
  monitor: { id: MATCH.monitor_id, name: 'my monitor' },
  id: MATCH.id,
  content: { type: 'monitor.match', match: MATCH } as const,
  secrets: ['whsec_c2VjcmV0'] as [string],
  now: Date.parse('2026-11-21T10:00:02.900Z'),
};
const parse = (body: Buffer): unknown => JSON.parse(body.toString());

test('makes a generic message byte for byte as ever, signed with the hex HMAC-SHA256 of <t>.<raw body>', () => {
  const { headers, body } = buildWebhookMessage({ ...INPUT, kind: 'generic' });
  expect(body.toString()).toBe(
    `{"type":"monitor.match","monitor":{"id":"mon_0123456789ab","name":"my monitor"},"match":${JSON.stringify(MATCH)},"sent_at":1795255202}`,
  );
  expect(webhookEvent.parse(parse(body))).toEqual(parse(body));
  const digest = createHmac('sha256', 'whsec_c2VjcmV0').update(`1795255202.${body.toString()}`).digest('hex');
  expect(headers).toMatchObject({
    'Content-Type': 'application/json',
    'User-Agent': 'service-webhooks/1',
    'X-Service-Delivery': MATCH.id,
    'X-Service-Signature': `t=1795255202,v1=${digest}`,
    'webhook-id': MATCH.id,
    'webhook-timestamp': '1795255202',
  });
});

test.each(['slack', 'discord'] as const)('makes a %s message that is JSON and not signed', (kind) => {
  const { headers, body } = buildWebhookMessage({ ...INPUT, kind });
  expect(headers).toEqual({ 'Content-Type': 'application/json', 'User-Agent': 'service-webhooks/1' });
  expect(Object.keys(parse(body) as object)[0]).toBe(kind === 'slack' ? 'text' : 'embeds');
  expect(body.toString()).toContain(MATCH.permalink);
  expect(body.toString()).toContain(INPUT.monitor.name);
});
