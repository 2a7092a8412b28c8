import { randomBytes } from 'node:crypto';

// Crockford's base 32 in lower case. It has no i, l, o and u, so that ids are not misread.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_LENGTH = 12;
const SEQ_DIGITS = 12;
const MONITOR_ID = /^mon_[0-9a-hjkmnp-tv-z]{12}$/;
const MUTE_ID = /^mute_[0-9a-hjkmnp-tv-z]{12}$/;
const BACKFILL_ID = /^bf_[0-9a-hjkmnp-tv-z]{12}$/;
const EVENT_ID = /^evt_[0-9a-hjkmnp-tv-z]{20}$/;
const MATCH_ID = /^mat_([0-9a-hjkmnp-tv-z]{12})_(\d{12})$/;

/** `length` random characters of 5 bits each. */
export function randomText(length: number): string {
  let text = '';
  for (const byte of randomBytes(length)) text += ALPHABET[byte & 31]!;
  return text;
}

/** mon_ and 60 random bits. */
export function newMonitorId(): string {
  return `mon_${randomText(ID_LENGTH)}`;
}

export function newMuteId(): string {
  return `mute_${randomText(ID_LENGTH)}`;
}

export function isMuteId(text: string): boolean {
  return MUTE_ID.test(text);
}

/** The id of a run of a backfill. */
export function newBackfillId(): string {
  return `bf_${randomText(ID_LENGTH)}`;
}

export function isBackfillId(text: string): boolean {
  return BACKFILL_ID.test(text);
}

/** The id of an event that is no match: monitor.spike, monitor.digest. */
export function newEventId(): string {
  return `evt_${randomText(20)}`;
}

export function isEventId(text: string): boolean {
  return EVENT_ID.test(text);
}

export function newAccountId(): string {
  return `acc_${randomText(ID_LENGTH)}`;
}

/** The id of a payment, which the payment provider sees. */
export function newPaymentId(): string {
  return `pay_${randomText(20)}`;
}

export function isMonitorId(text: string): boolean {
  return MONITOR_ID.test(text);
}

/**
 * The id of a monitor's match. As text it sorts in match order. It is derived and not random, so that a repeated batch,
 * the page and the webhook give the match the same id.
 *
 * @param seq 1 to 999,999,999,999
 */
export function matchId(monitorId: string, seq: number): string {
  return `mat_${monitorId.slice(4)}_${String(seq).padStart(SEQ_DIGITS, '0')}`;
}

/** The monitor and seq of a match id; undefined when the text is not a match id. */
export function parseMatchId(text: string): { monitorId: string; seq: number } | undefined {
  const parts = MATCH_ID.exec(text);
  if (!parts) return undefined;
  return { monitorId: `mon_${parts[1]!}`, seq: Number(parts[2]) };
}
