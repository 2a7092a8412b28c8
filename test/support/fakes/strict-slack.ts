import { z } from 'zod';
import type { StrictAnswer } from './strict-discord.ts';

const textObject = z.strictObject({
  type: z.literal('mrkdwn'),
  text: z.string().min(1).max(3_000),
  verbatim: z.boolean().optional(),
});
const block = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('section'), text: textObject }),
  z.strictObject({ type: z.literal('context'), elements: z.array(textObject).min(1).max(10) }),
]);
const slackPayload = z.strictObject({
  text: z.string().min(1).max(4_000),
  blocks: z.array(block).max(50),
  unfurl_links: z.boolean(),
  unfurl_media: z.boolean(),
});

export type SlackPayload = z.infer<typeof slackPayload>;

/** The answer of Slack's incoming webhook to a request: `ok`, or an error code in plain text. */
export function answerAsSlack(body: string): StrictAnswer<SlackPayload> {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return { status: 400, body: 'invalid_payload', problem: 'no JSON' };
  }
  const { success, data, error } = slackPayload.safeParse(json);
  if (!success) return { status: 400, body: 'invalid_blocks', problem: error.message };
  const texts = [data.text, ...textsOf(data)];
  const broken = texts.find((text) => !text.isWellFormed() || readMrkdwn(text).unescaped.length > 0);
  if (broken !== undefined) return { status: 400, body: 'invalid_blocks', problem: broken };
  return { status: 200, body: 'ok', message: data };
}

/** The texts of the blocks, in their order. */
export function textsOf({ blocks }: SlackPayload): string[] {
  return blocks.flatMap((block) => (block.type === 'section' ? [block.text] : block.elements)).map(({ text }) => text);
}

export interface MrkdwnReading {
  links: { url: string; label: string }[];
  mentions: string[];
  dates: string[];
  /** The texts between two asterisks that count. */
  bold: string[];
  /** All other formatting: italics, code, strike-through, quotations, emoji. */
  formatted: string[];
  /** Signs that are not part of markup and should have been entities. */
  unescaped: string[];
}

const ENTITY = /^&(amp|lt|gt);/;
/** A quotation mark also counts as an entity. The other characters have no special meaning. */
const SHOWN: Readonly<Record<string, string>> = { amp: '\ue001', lt: '\ue002', gt: '>' };

/** How a client displays a text. When in doubt, it recognises formatting. */
export function readMrkdwn(text: string): MrkdwnReading {
  const reading: MrkdwnReading = { links: [], mentions: [], dates: [], bold: [], formatted: [], unescaped: [] };
  let flat = '';
  for (let offset = 0; offset < text.length;) {
    const rest = text.slice(offset);
    const token = /^<([^<>\n]*)>/.exec(rest);
    const entity = ENTITY.exec(rest);
    if (token) flat += readToken(token[1]!, reading);
    else if (entity) flat += SHOWN[entity[1]!] ?? '';
    else {
      if (/^[&<>]/.test(rest)) reading.unescaped.push(rest.slice(0, 20));
      flat += rest.charAt(0);
    }
    offset += (token?.[0] ?? entity?.[0] ?? ' ').length;
  }
  readFormatting(flat, reading);
  return reading;
}

/** Records the content of angle brackets; returns the text that is displayed for it. */
function readToken(token: string, reading: MrkdwnReading): string {
  const [target = '', ...labels] = token.split('|');
  if (target.startsWith('!date^')) {
    reading.dates.push(token);
    return 'date';
  }
  if (/^[!@#]/.test(target)) {
    reading.mentions.push(token);
    return 'mention';
  }
  if (labels.length > 1) reading.unescaped.push(token);
  reading.links.push({ url: target, label: labels.join('|') });
  return labels[0] ?? 'link';
}

function readFormatting(flat: string, reading: MrkdwnReading): void {
  for (const line of flat.split('\n')) {
    if (/^\s*[>＞]/.test(line)) reading.formatted.push(line.slice(0, 20));
    for (const [, inner] of line.matchAll(/(?<![A-Za-z0-9])\*(?!\s)([^*]+?)(?<!\s)\*(?![A-Za-z0-9])/g)) {
      reading.bold.push(inner!);
    }
    const others = [
      /＊[^＊]+＊/g,
      /(?<![A-Za-z0-9])_[^_]+_(?![A-Za-z0-9])/g,
      /＿[^＿]+＿/g,
      /~[^~]+~/g,
      /[`｀].+[`｀]/g,
      /:[\p{L}\p{M}\p{N}_+'-]+:/gu,
      /@(?:here|channel|everyone|group)\b/gi,
    ];
    for (const pattern of others) reading.formatted.push(...Array.from(line.matchAll(pattern), ([found]) => found));
  }
}
