import { z } from 'zod';

export type StrictAnswer<Message> =
  { status: number; body: string; message: Message } | { status: 400; body: string; problem: string };

const filled = (limit: number) =>
  z
    .string()
    .max(limit)
    .refine((text) => text.isWellFormed() && text.replace(/[\s\u200b-\u200f\u2060\u2800\ufeff]/g, '') !== '', 'blank');
const embed = z.strictObject({
  title: filled(256),
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_048)
    .optional(),
  description: filled(600).optional(),
  fields: z.array(z.strictObject({ name: filled(256), value: filled(1_024), inline: z.boolean() })).max(25),
  footer: z.strictObject({ text: filled(2_048) }),
  timestamp: z.iso.datetime(),
});
const discordPayload = z.strictObject({
  embeds: z.array(embed).length(1),
  allowed_mentions: z.strictObject({ parse: z.array(z.string()) }),
});

export type DiscordPayload = z.infer<typeof discordPayload>;

const LONGEST_EMBED = 6_000;

/** The answer of Discord's webhook to a request: the message, nothing, or errors as JSON. */
export function answerAsDiscord(path: string, body: string): StrictAnswer<DiscordPayload> {
  const refuse = (problem: string) => {
    const answer = { message: 'Invalid Form Body', code: 50035, errors: { _errors: [{ message: problem }] } };
    return { status: 400 as const, body: JSON.stringify(answer), problem };
  };
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return refuse('no JSON');
  }
  const { success, data, error } = discordPayload.safeParse(json);
  if (!success) return refuse(error.message);
  const [first] = data.embeds;
  const { title, description = '', fields, footer } = first!;
  const texts = [title, description, footer.text, ...fields.flatMap(({ name, value }) => [name, value])];
  if (texts.join('').length > LONGEST_EMBED) return refuse('the embed is too long');
  const isAwaited = new URL(path, 'https://discord.example').searchParams.get('wait') === 'true';
  return isAwaited
    ? { status: 200, body: JSON.stringify({ id: '1', type: 0, embeds: data.embeds }), message: data }
    : { status: 204, body: '', message: data };
}

export interface MarkdownReading {
  /** The displayed text, without markup. */
  shown: string;
  bold: string[];
  /** Links, mentions, emoji, time stamps and all formatting but bold. */
  active: string[];
}

const LINE_MARKUP = /^\s*(?:#{1,3}\s|-#\s|[-*+]\s|\d+[.)]\s|>{1,3}\s?)/;
/** What a client's parser tries at each character, in this order. Only the first displays its text unchanged. */
const ACTIVE = [
  /^\[[^\]]*\]\(.*?\)/,
  /^(?:https?|steam|discord|ftp):\/\/\S+/,
  /^@(?:everyone|here)/,
  /^<(?:@[!&]?|#)\d+>/,
  /^<a?:\w+:\d+>/,
  /^<t:-?\d+(?::[a-zA-Z])?>/,
  /^<\/[^>]+:\d+>/,
  /^<id:\w+>/,
  /^<[^\s<>]+[:@][^\s<>]+>/,
  /^:[^\s:]+:/,
  /^¯\\_\(ツ\)_\/¯/,
  /^(`+)[\s\S]*?[^`]\1(?!`)/,
  /^\|\|[\s\S]+?\|\|/,
  /^~~[\s\S]+?~~/,
  /^__[\s\S]+?__/,
  /^_[\s\S]+?_/,
  /^\*(?=\S)[\s\S]+?\*/,
] as const;
const BOLD = /^\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)/;
const ESCAPE = /^\\([^0-9A-Za-z\s])/;

/** How a client displays a text of an embed. */
export function readDiscordMarkdown(text: string, isLineStart = true): MarkdownReading {
  const reading: MarkdownReading = { shown: '', bold: [], active: [] };
  if (isLineStart) {
    for (const line of text.split('\n')) if (LINE_MARKUP.test(line)) reading.active.push(line.slice(0, 20));
  }
  for (let rest = text; rest !== '';) {
    const escape = ESCAPE.exec(rest);
    const bold = escape ? null : BOLD.exec(rest);
    const active = (escape ?? bold) ? undefined : ACTIVE.map((pattern) => pattern.exec(rest)?.[0]).find(Boolean);
    if (bold) {
      const inner = readDiscordMarkdown(bold[1]!, false);
      reading.bold.push(inner.shown, ...inner.bold);
      reading.active.push(...inner.active);
      reading.shown += inner.shown;
    } else reading.shown += escape ? escape[1]! : (active ?? rest.charAt(0));
    if (active !== undefined) reading.active.push(active);
    rest = rest.slice((escape?.[0] ?? bold?.[0] ?? active ?? ' ').length);
  }
  return reading;
}
