import type { WebhookKind } from '../../schemas/api/monitors.ts';
import { webhookRequestUrl } from '../../shared/domain/webhooks/webhook-message.ts';
import type { WebhookMessage } from '../../shared/domain/webhooks/webhook-request.ts';
import type { EgressClient, EgressResult } from '../../shared/http/egress-client.ts';
import { parseRetryAfterBody } from '../../shared/http/retry-after.ts';
import { traceHeaders } from '../../shared/tracing/tracing.ts';
import type { TraceSpan } from '../../shared/tracing/tracing.ts';
import { errorMessage } from '../../shared/runtime/errors.ts';

export type AttemptAnswer = EgressResult | { error: 'secret_unreadable'; status: 0; detail: string };

/**
 * Sends one request to a webhook, through the egress client.
 *
 * @param span handed on to generic webhooks as `traceparent`
 * @param build the request; throws when the secret cannot be opened
 */
export async function callReceiver(
  { webhookKind, webhookUrl }: { webhookKind: WebhookKind; webhookUrl: string },
  build: () => WebhookMessage,
  { egress, deadlineMs, span }: { egress: EgressClient; deadlineMs: number; span?: TraceSpan | undefined },
): Promise<AttemptAnswer> {
  let message: WebhookMessage;
  try {
    message = build();
  } catch (error) {
    // SECRET_KEY changed since the secret was stored. The retry schedule gives the operator time to restore the key.
    return { error: 'secret_unreadable', status: 0, detail: errorMessage(error) };
  }
  const answer = await egress.send({
    url: webhookRequestUrl(webhookKind, webhookUrl),
    method: 'POST',
    // Chat services have no use for it.
    headers: { ...message.headers, ...(webhookKind === 'generic' ? traceHeaders(span).headers : {}) },
    body: message.body,
    deadlineMs,
  });
  return webhookKind === 'discord' ? withBodyRetryAfter(answer) : answer;
}

/** Discord also gives the wait of a 429 in the body, with more precision; the longer of the two counts. */
function withBodyRetryAfter(answer: EgressResult): EgressResult {
  if (answer.status !== 429) return answer;
  const asked = parseRetryAfterBody(answer.bodyExcerpt);
  return asked === undefined ? answer : { ...answer, retryAfterMs: Math.max(asked, answer.retryAfterMs ?? 0) };
}
