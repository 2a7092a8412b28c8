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
    'The match id. Retries and resends have the same id, so ignore ids that you have already seen.',
    MATCH_ID,
  ),
  header(
    'X-Service-Signature',
    true,
    '`t=SECONDS,v1=HEX`: the HMAC-SHA256 of `SECONDS.BODY`, keyed with the webhook secret as text. Reject old timestamps.',
    `t=${SENT_AT},v1=${HMAC}`,
  ),
  header(
    'X-Service-Signature-Previous',
    false,
    'For 24 hours after a rotation: the same, with the previous secret. Accept either.',
    `t=${SENT_AT},v1=${HMAC}`,
  ),
  header('webhook-id', true, 'The match id, in the header that Standard Webhooks defines.', MATCH_ID),
  header('webhook-timestamp', true, 'When the attempt was made, in Unix seconds.', String(SENT_AT)),
  header(
    'webhook-signature',
    true,
    'Standard Webhooks signatures (standardwebhooks.com), separated by spaces: one for each secret.',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ),
  header('X-Service-Test', false, '`1` on sample matches sent by `POST /v1/monitors/{id}/test`.', '1'),
];

/** Spikes and digests have their own ids, and no test sends them. */
const EVENT_HEADERS = HEADERS.filter(({ name }) => name !== 'X-Service-Test').map((given): Parameter => {
  if (given.name !== 'X-Service-Delivery' && given.name !== 'webhook-id') return given;
  const description = 'The event id. Retries have the same id, so ignore ids that you have already seen.';
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
          'Sent to `webhook_url` within seconds for each match of a monitor whose `webhook_kind` is `generic`. Verify a signature over the raw body, and respond within 8 seconds.',
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
          'Sent to `webhook_url` once per spike: when a monitor with `spike_webhook` had far more matches in an hour than is usual for that hour of the day. Signed and retried like matches; failures count toward `webhook_failing`.',
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
          'Sent to `webhook_url` of a monitor with `digest`, every full hour or every midnight (UTC), if there are matches since the previous digest. It contains the first 100 of them, oldest first, in their current state, and at most about a megabyte. Each match is in one digest. While a digest is waiting for a retry, later matches wait for the next one. Signed and retried like matches; failures count toward `webhook_failing`. Without a webhook, the digest is mailed to the address of the account.',
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
        '429': { description: 'It is retried no sooner than `Retry-After` says (at most 2 hours).' },
        '5XX': { description: 'It is retried after 30 s, 2 min, 10 min, 30 min and 2 h.' },
        default: { description: `The delivery has failed; redirects are not followed.${resent}` },
      },
    },
  };
}
