import type { z } from 'zod';
import { eventLogEntry } from '../../../schemas/api/deliveries.ts';
import { digestEvent, spikeEvent, webhookEvent } from '../../../schemas/messages/monitor-event.ts';
import { matchId } from '../../../schemas/messages/monitor-match.ts';
import { exampleOf } from '../openapi/json-schemas.ts';
import type { ComponentSchemas } from '../openapi/json-schemas.ts';
import type { OpenApiDocument, Parameter } from '../openapi/openapi-shape.ts';

const MATCH_ID = exampleOf(matchId);
const EVENT_ID = exampleOf(eventLogEntry.shape.id);
const SENT_AT = exampleOf(webhookEvent.shape.sent_at);
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
    MATCH_ID,
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
  header('webhook-id', true, 'The id of the match, as Standard Webhooks calls it.', MATCH_ID),
  header('webhook-timestamp', true, 'The time of the attempt in Unix seconds.', String(SENT_AT)),
  header(
    'webhook-signature',
    true,
    'The signatures of Standard Webhooks (standardwebhooks.com), separated by spaces: one for each secret.',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ),
  header('X-Service-Test', false, '`1` on sample matches, which `POST /v1/monitors/{id}/test` sends.', '1'),
];

/** Spikes and digests have their own ids, and no test sends them. */
const EVENT_HEADERS = HEADERS.filter(({ name }) => name !== 'X-Service-Test').map((given): Parameter => {
  if (given.name !== 'X-Service-Delivery' && given.name !== 'webhook-id') return given;
  const description = 'The id of the event. Retries have the same id, so drop ids that you have seen.';
  return { ...given, description, example: EVENT_ID };
});

/**
 * The requests that generic webhooks get. Slack and Discord get messages in their own layouts.
 *
 * @param schemas gets those of the bodies
 */
export function webhookDocuments(schemas: ComponentSchemas): OpenApiDocument['webhooks'] {
  return {
    monitorMatch: received(
      {
        operationId: 'receiveMatch',
        what: 'match',
        description:
          'Sent to `webhook_url` for each match of a monitor whose `webhook_kind` is `generic`, within seconds. Verify a signature over the body as received, and answer within 8 seconds.',
        parameters: HEADERS,
        schema: webhookEvent,
      },
      schemas,
    ),
    monitorSpike: received(
      {
        operationId: 'receiveSpike',
        what: 'spike',
        description:
          'Sent to `webhook_url` when a monitor with `spike_webhook` had far more matches in an hour than that hour of the day usually has: one event a spike. Signed and retried as matches are; failures count for `webhook_failing`.',
        parameters: EVENT_HEADERS,
        schema: spikeEvent,
      },
      schemas,
    ),
    monitorDigest: received(
      {
        operationId: 'receiveDigest',
        what: 'digest',
        description:
          'Sent to `webhook_url` of a monitor with `digest`, each full hour or each midnight (UTC) with matches since the digest before: the first 100, oldest first, as they are then, and about a megabyte at most. Each match is in one digest. While a digest waits for a retry, later matches wait for the next one. Signed and retried as matches are; failures count for `webhook_failing`. Without a webhook the digest is mailed to the address of the account.',
        parameters: EVENT_HEADERS,
        schema: digestEvent,
      },
      schemas,
    ),
  };
}

function received(
  event: {
    operationId: string;
    what: string;
    description: string;
    parameters: Parameter[];
    schema: z.ZodType;
  },
  schemas: ComponentSchemas,
): OpenApiDocument['webhooks'][string] {
  const { operationId, what, description, parameters, schema } = event;
  const resent = what === 'match' ? ' It can be resent later.' : '';
  return {
    post: {
      operationId,
      tags: ['Monitors'],
      summary: `Receive a ${what}`,
      description,
      parameters,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: schemas.add(schema, 'output'),
            examples: { [what]: { value: exampleOf(schema) } },
          },
        },
      },
      responses: {
        '2XX': { description: `The ${what} is delivered.` },
        '429': { description: 'It is sent again, not before `Retry-After` (at most 2 hours).' },
        '5XX': { description: 'It is sent again after 30 s, 2 min, 10 min, 30 min and 2 h.' },
        default: { description: `The delivery has failed; redirects are not followed.${resent}` },
      },
    },
  };
}
