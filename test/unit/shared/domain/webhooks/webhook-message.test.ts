import { describe, expect, test } from 'vitest';
import { webhookEvent } from '../../../../../schemas/messages/webhook-event.ts';
import { buildWebhookMessage, webhookRequestUrl } from '../../../../../shared/domain/webhooks/webhook-message.ts';
import { chatMatch } from '../../../../support/samples/chat-matches.ts';

const MATCH = chatMatch({ body: '<!channel> @everyone **rust** & [more](https://x.example)' });
const INPUT = {
  monitor: { id: MATCH.monitor_id, name: 'my monitor' },
  match: MATCH,
  secrets: ['whsec_c2VjcmV0'] as [string],
  now: Date.parse('2026-11-21T10:00:02.900Z'),
};
const parse = (body: Buffer): unknown => JSON.parse(body.toString());

describe('buildWebhookMessage', () => {
  test('makes a generic message of the specified form, with all its headers', () => {
    const { headers, body } = buildWebhookMessage({ ...INPUT, kind: 'generic' });
    const event = webhookEvent.parse(parse(body));
    expect(event).toEqual({ type: 'monitor.match', monitor: INPUT.monitor, match: MATCH, sent_at: 1_795_255_202 });
    expect(headers).toMatchObject({
      'Content-Type': 'application/json',
      'User-Agent': 'service-webhooks/1',
      'X-Service-Delivery': MATCH.id,
      'webhook-id': MATCH.id,
      'webhook-timestamp': '1795255202',
    });
    expect(headers['X-Service-Signature']).toMatch(/^t=1795255202,v1=[0-9a-f]{64}$/);
  });

  test('makes a generic message byte for byte as ever, whatever the texts hold', () => {
    const { body } = buildWebhookMessage({ ...INPUT, kind: 'generic' });
    expect(body.toString()).toBe(
      `{"type":"monitor.match","monitor":{"id":"mon_0123456789ab","name":"my monitor"},"match":${JSON.stringify(MATCH)},"sent_at":1795255202}`,
    );
  });

  test.each(['slack', 'discord'] as const)('makes a %s message that is JSON and not signed', (kind) => {
    const { headers, body } = buildWebhookMessage({ ...INPUT, kind });
    expect(headers).toEqual({ 'Content-Type': 'application/json', 'User-Agent': 'service-webhooks/1' });
    expect(Object.keys(parse(body) as object)[0]).toBe(kind === 'slack' ? 'text' : 'embeds');
    expect(body.toString()).toContain(MATCH.permalink);
    expect(body.toString()).toContain(INPUT.monitor.name);
  });

  test.each([
    ['generic', 'https://receiver.example/hook?a=1'],
    ['slack', 'https://hooks.slack.com/services/T/B/X'],
    ['discord', 'https://discord.com/api/v10/webhooks/1/t?wait=true'],
  ] as const)('sends a %s message to %s', (kind, url) => {
    const webhookUrl = kind === 'discord' ? 'https://discord.com/api/webhooks/1/t' : url;
    expect(webhookRequestUrl(kind, webhookUrl)).toBe(url);
  });
});
