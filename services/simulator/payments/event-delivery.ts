import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { TrialEvent } from './trial-session.ts';

export interface DeliveryOptions {
  /** Where events are sent. */
  webhookUrl: string;
  /** Signs them. */
  secret: string;
  now: () => number;
  signal: AbortSignal;
}

/** Milliseconds before each attempt: about ten minutes together. Stripe takes three days. */
const LADDER_MS = [0, 1_000, 2_000, 5_000, 10_000, 30_000, ...Array.from({ length: 9 }, () => 60_000)];
const TIMEOUT_MS = 10_000;

/** Stripe's scheme: HMAC-SHA256 of the time, a dot and the bytes of the body. */
export function signatureOf(body: string, secret: string, nowMs: number): string {
  const at = Math.floor(nowMs / 1_000);
  return `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`;
}

/**
 * Delivers an event with its signature, and repeats it until it is answered 2xx. Each attempt is signed anew.
 *
 * @returns false when it was given up or stopped
 */
export async function deliverEvent(event: TrialEvent, options: DeliveryOptions): Promise<boolean> {
  const body = JSON.stringify(event);
  for (const waitMs of LADDER_MS) {
    try {
      await delay(waitMs, undefined, { signal: options.signal });
      if (await attempt(body, options)) return true;
    } catch {
      // Refused connections and time-outs are repeated; a stop ends the loop.
    }
    if (options.signal.aborted) return false;
  }
  return false;
}

async function attempt(body: string, { webhookUrl, secret, now, signal }: DeliveryOptions): Promise<boolean> {
  const response = await fetch(webhookUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': signatureOf(body, secret, now()) },
    body,
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  await response.arrayBuffer();
  return response.ok;
}
