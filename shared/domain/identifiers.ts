import { randomBytes } from 'node:crypto';

// Crockford's base 32 in lower case: no i, l, o, u, so ids read aloud are not mistaken.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_LENGTH = 12;
const SEQ_DIGITS = 12;
const MONITOR_ID = /^mon_[0-9a-hjkmnp-tv-z]{12}$/;
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

export function newAccountId(): string {
  return `acc_${randomText(ID_LENGTH)}`;
}

export function isMonitorId(text: string): boolean {
  return MONITOR_ID.test(text);
}

/**
 * The id of a monitor's seq-th match: sorts, as text, in match order. Derived, not drawn, so that a recorder that
 * repeats a batch, the page and the webhook all name the match alike.
 *
 * @param seq 1 to 999,999,999,999
 */
export function matchId(monitorId: string, seq: number): string {
  return `mat_${monitorId.slice(4)}_${String(seq).padStart(SEQ_DIGITS, '0')}`;
}

/** The monitor and seq that a match id names; undefined when it is not one. */
export function parseMatchId(text: string): { monitorId: string; seq: number } | undefined {
  const parts = MATCH_ID.exec(text);
  if (!parts) return undefined;
  return { monitorId: `mon_${parts[1]!}`, seq: Number(parts[2]) };
}
