import type { Digest, Spike } from '../../../schemas/messages/monitor-event.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import {
  headOf,
  isVisible,
  linkTarget,
  plainLine,
  digestTitle,
  LISTED_MATCHES,
  matchTitle,
  spikeSentence,
  matchExcerpt,
  unlisted,
} from './chat-text.ts';
import type { MatchExcerpt } from './chat-text.ts';
import { detectWebhookKind } from './webhook-url.ts';

/**
 * Discord's limits of an embed: 256 characters of title, 4,096 of description, 1,024 of a field's value, 2,048 of
 * footer, and 6,000 in total, counted as sent, with escapes (docs.discord.com/developers/resources/message, embed
 * limits).
 */
const TITLE_LIMIT = 256;
const DESCRIPTION_LIMIT = 600;
const VALUE_LIMIT = 512;
const NAME_LIMIT = 256;
/** Two pairs of asterisks, and one escape at the beginning. */
const DESCRIPTION_MARKUP = 5;

/** What can begin or end formatting, links, mentions, times or emoji. The colon, because https:// becomes a link. */
const SPECIAL = /[\\*_~`|<>[\]@:]/g;
/** Formats only at the beginning of a line: headings, small print, lists. */
const LEADING = /^(\s*(?:\d+(?=[.)]))?)(?=[#+\-.)])/;

/** One embed whose title is a link, with the hit in bold. */
export function discordMessage(monitor: { name: string }, match: MonitorMatch): Record<string, unknown> {
  const excerpt = matchExcerpt(match, DESCRIPTION_LIMIT - DESCRIPTION_MARKUP, measure);
  const url = linkTarget(match.permalink, lengthOf);
  const embed = {
    title: escapeDiscordLine(matchTitle(match), TITLE_LIMIT),
    ...(url === undefined ? {} : { url }),
    ...(excerpt ? { description: descriptionOf(excerpt) } : {}),
    fields: [
      { name: 'Keyword', value: fieldValue(match.matched_terms[0] ?? ''), inline: true },
      { name: 'Subreddit', value: fieldValue(`r/${match.subreddit}`), inline: true },
    ],
    // Discord shows a footer literally, without formatting, links or mentions.
    footer: { text: `u/${nameLine(match.author)} · ${nameLine(monitor.name)}` },
    timestamp: match.created_utc,
  };
  return { embeds: [embed], allowed_mentions: { parse: [] } };
}

/**
 * The URL that a message for a channel webhook is sent to. With `wait=true` the answer says whether the message was
 * created. URLs of Discord's own hosts without an API version get version 10: the default can be an old version, and
 * before version 8 the retry time of a 429 was in milliseconds. Other URLs keep their path.
 */
export function discordRequestUrl(webhookUrl: string): string {
  if (!URL.canParse(webhookUrl)) return webhookUrl;
  const url = new URL(webhookUrl);
  if (detectWebhookKind(url) === 'discord')
    url.pathname = url.pathname.replace(/^\/api\/webhooks\//, '/api/v10/webhooks/');
  if (url.searchParams.has('wait')) url.searchParams.set('wait', 'true');
  else url.search += url.search === '' ? '?wait=true' : '&wait=true';
  return url.href;
}

function descriptionOf({ before, hit, after }: MatchExcerpt): string {
  if (hit === '') return escapeStart(before + after);
  return `${escapeStart(before)}**${escapeMarkdown(hit)}**${escapeMarkdown(after)}`;
}

function fieldValue(text: string): string {
  return isVisible(plainLine(text)) ? escapeDiscordLine(text, VALUE_LIMIT) : '–';
}

function nameLine(text: string): string {
  return headOf(plainLine(text).trim(), NAME_LIMIT, lengthOf);
}

function escapeDiscordLine(text: string, limit: number): string {
  return escapeStart(headOf(plainLine(text).trim(), limit - 1, measure));
}

const lengthOf = (piece: string) => piece.length;
const measure = (piece: string) => escapeMarkdown(piece).length;

const escapeMarkdown = (text: string) => text.replace(SPECIAL, '\\$&');

const escapeStart = (text: string) => escapeMarkdown(text).replace(LEADING, '$1\\');

/** Ten fields of at most 100 + 250 + 60 characters stay below the 6,000 of an embed. */
const LINE_LIMIT = 100;
const LINK_LIMIT = 250;
const COMMUNITY_LIMIT = 50;
const MONITOR_NAME_LIMIT = 150;

/** The message of a digest for a channel webhook: the first matches as links, and how many more there are. */
export function discordDigest(monitor: { name: string }, digest: Digest): Record<string, unknown> {
  const fields = digest.matches.slice(0, LISTED_MATCHES).map((match) => {
    const said = escapeDiscordLine(matchTitle(match), LINE_LIMIT);
    const target = linkTarget(match.permalink, lengthOf);
    const value = target === undefined || target.length > LINK_LIMIT ? said : `[${said}](<${target}>)`;
    return { name: `r/${escapeDiscordLine(match.subreddit, COMMUNITY_LIMIT)}`, value, inline: false };
  });
  const more = unlisted(digest);
  const url = linkTarget(digest.url, lengthOf);
  const newest = digest.matches.at(-1);
  return message(monitor, {
    title: digestTitle(digest),
    ...(url === undefined ? {} : { url }),
    ...(more === undefined ? {} : { description: more }),
    fields,
    ...(newest === undefined ? {} : { timestamp: newest.created_at }),
  });
}

export function discordSpike(monitor: { name: string }, spike: Spike): Record<string, unknown> {
  const about = spike.keyword === undefined ? '' : ` for ${escapeDiscordLine(spike.keyword, MONITOR_NAME_LIMIT)}`;
  const title = `Spike: unusually many matches${about}`;
  return message(monitor, { title, description: spikeSentence(spike), fields: [], timestamp: spike.at });
}

/** It never mentions anybody, whatever the texts contain. Discord shows a footer literally. */
function message(monitor: { name: string }, embed: object): Record<string, unknown> {
  const footer = { text: headOf(plainLine(monitor.name).trim(), MONITOR_NAME_LIMIT, lengthOf) };
  return { embeds: [{ ...embed, footer }], allowed_mentions: { parse: [] } };
}
