import { expect, test } from 'vitest';
import { webhookEvent } from '../../../../../../schemas/messages/webhook-event.ts';
import { buildOpenApiDocument } from '../../../../../../services/api/openapi/build-openapi.ts';
import { buildWebhookMessage } from '../../../../../../shared/domain/webhooks/webhook-message.ts';
import { validate } from '../../../../../support/oracles/openapi-checker.ts';
import { chatMatch } from '../../../../../support/samples/chat-matches.ts';

const document = buildOpenApiDocument('https://api.example.com');
const { post } = document.webhooks.monitorMatch!;
const { schema, examples } = post.requestBody.content['application/json']!;

const match = chatMatch({});
const monitor = { id: match.monitor_id, name: 'a monitor' };
const send = (secrets: readonly [string, ...string[]]) =>
  buildWebhookMessage({ kind: 'generic', monitor, match, secrets, now: 1_795_255_202_000 });

test('webhooks are sent with the documented headers, also after a rotation', () => {
  const documented = post.parameters.map(({ name, in: place }) => {
    expect(place).toBe('header');
    return name;
  });
  const sent = (secrets: readonly [string, ...string[]]) =>
    Object.keys(send(secrets).headers).filter((name) => /^(x-service|webhook-)/i.test(name));
  for (const name of sent(['whsec_bmV3', 'whsec_b2xk'])) expect(documented).toContain(name);
  const required = post.parameters.filter(({ required: isRequired }) => isRequired).map(({ name }) => name);
  expect(sent(['whsec_bmV3']).sort()).toEqual(required.sort());
});

test('the payload conforms to its schema, and so does its example', () => {
  validate(document, schema, JSON.parse(send(['whsec_bmV3']).body.toString()), 'a webhook');
  for (const { value } of Object.values(examples)) {
    validate(document, schema, value, 'the example');
    webhookEvent.parse(value);
  }
});
