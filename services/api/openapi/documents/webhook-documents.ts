import { refTo } from '../component-schemas.ts';
import { monitorExamples } from '../examples/monitor-examples.ts';
import type { OpenApiDocument, Parameter } from '../openapi-shape.ts';

const [match] = monitorExamples.page.items;
const SENT_AT = 1_772_619_667;
const HMAC = '4c8e3d5f0e5c7b1fd21a0f9b6f7cbb2e2a5d1c6f0b8e4a9d7c3f2e1d0c9b8a76';

const header = (name: string, required: boolean, description: string, example: string): Parameter => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
  example,
});

const HEADERS = [
  header(
    'X-Service-Delivery',
    true,
    'The id of the match. Retries and resends have the same id, so drop ids that you have seen.',
    match!.id,
  ),
  header(
    'X-Service-Signature',
    true,
    '`t=SECONDS,v1=HEX`: HMAC-SHA256 of `SECONDS.BODY` with the secret of the webhook as text. Refuse old times.',
    `t=${SENT_AT},v1=${HMAC}`,
  ),
  header(
    'X-Service-Signature-Previous',
    false,
    'Within 24 hours after a rotation: the same with the previous secret. Accept either.',
    `t=${SENT_AT},v1=${HMAC}`,
  ),
  header('webhook-id', true, 'The id of the match, as Standard Webhooks calls it.', match!.id),
  header('webhook-timestamp', true, 'The time of the attempt in Unix seconds.', String(SENT_AT)),
  header(
    'webhook-signature',
    true,
    'The signatures of Standard Webhooks (standardwebhooks.com), separated by spaces: one for each secret.',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ),
  header('X-Service-Test', false, '`1` on sample matches, which `POST /v1/monitors/{id}/test` sends.', '1'),
];

/** The requests that generic webhooks get. Slack and Discord get messages in their own layouts. */
export function webhookDocuments(): OpenApiDocument['webhooks'] {
  return {
    monitorMatch: {
      post: {
        operationId: 'receiveMatch',
        tags: ['Monitors'],
        summary: 'Receive a match',
        description:
          'Sent to `webhook_url` for each match of a monitor whose `webhook_kind` is `generic`, within seconds. Verify a signature over the body as received, and answer within 8 seconds.',
        parameters: HEADERS,
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: refTo('WebhookEvent'),
              examples: { match: { value: eventExample() } },
            },
          },
        },
        responses: {
          '2XX': { description: 'The match is delivered.' },
          '429': { description: 'It is sent again, not before `Retry-After` (at most 2 hours).' },
          '5XX': { description: 'It is sent again after 30 s, 2 min, 10 min, 30 min and 2 h.' },
          default: { description: 'The delivery has failed; redirects are not followed. It can be resent later.' },
        },
      },
    },
  };
}

function eventExample(): object {
  const { id, name } = monitorExamples.monitor.monitor;
  const sent = { ...match, delivery_status: 'pending', delivered_at: null };
  return { type: 'monitor.match', monitor: { id, name }, match: sent, sent_at: SENT_AT };
}
