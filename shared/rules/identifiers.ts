import { randomBytes } from 'node:crypto';

// Crockford's base 32 in lower case. It has no i, l, o and u, so that ids are not misread.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const SEQ_DIGITS = 12;
const MATCH_ID = /^mat_([0-9a-hjkmnp-tv-z]{12})_(\d{12})$/;

/** `length` random characters of 5 bits each. */
export function randomText(length: number): string {
  let text = '';
  for (const byte of randomBytes(length)) text += ALPHABET[byte & 31]!;
  return text;
}

/** Makes and recognises ids and secrets: the prefix, an underscore, and this many random characters. */
export function idFormat(prefix: string, length: number): { create: () => string; test: (text: string) => boolean } {
  const format = new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{${length}}$`);
  return { create: () => `${prefix}_${randomText(length)}`, test: (text) => format.test(text) };
}

export const { create: newMonitorId, test: isMonitorId } = idFormat('mon', 12);
export const { create: newMuteId, test: isMuteId } = idFormat('mute', 12);
export const { create: newBackfillId, test: isBackfillId } = idFormat('bf', 12);
/** The id of an event that is no match: monitor.spike, monitor.digest. */
export const { create: newEventId, test: isEventId } = idFormat('evt', 20);
export const { create: newAccountId } = idFormat('acc', 12);
export const { create: newPaymentId } = idFormat('pay', 20);

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

/** The monitors of a matcher: shard number `shard`, from 1, of `shards`. Each monitor is in one of them. */
export interface MonitorShard {
  shard: number;
  shards: number;
}

export const WHOLE: MonitorShard = { shard: 1, shards: 1 };
