import type { Digest, Spike } from '../../../schemas/messages/monitor-event.ts';
import { headOf, linkTarget, plainLine } from './chat-text.ts';
import { escapeDiscordLine } from './discord-message.ts';
import { digestTitle, LISTED_MATCHES, matchTitle, spikeSentence, unlisted } from './event-words.ts';

/** Ten fields of at most 100 + 250 + 60 characters stay below the 6,000 of an embed. */
const LINE_LIMIT = 100;
const LINK_LIMIT = 250;
const COMMUNITY_LIMIT = 50;
const NAME_LIMIT = 150;
const lengthOf = (piece: string) => piece.length;

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

/** The message of a spike for a channel webhook. */
export function discordSpike(monitor: { name: string }, spike: Spike): Record<string, unknown> {
  const about = spike.keyword === undefined ? '' : ` of ${escapeDiscordLine(spike.keyword, NAME_LIMIT)}`;
  const title = `Unusually many matches${about}`;
  return message(monitor, { title, description: spikeSentence(spike), fields: [], timestamp: spike.at });
}

/** It never mentions anybody, whatever the texts contain. Discord shows a footer literally. */
function message(monitor: { name: string }, embed: object): Record<string, unknown> {
  const footer = { text: headOf(plainLine(monitor.name).trim(), NAME_LIMIT, lengthOf) };
  return { embeds: [{ ...embed, footer }], allowed_mentions: { parse: [] } };
}
