import type { Digest, Spike } from '../../../schemas/messages/monitor-event.ts';
import { linkTarget } from './chat-text.ts';
import { digestTitle, LISTED_MATCHES, matchTitle, spikeSentence, unlisted } from './event-words.ts';
import { escapeEntities, escapeSlackLine } from './slack-message.ts';

const TITLE_LIMIT = 150;
const NAME_LIMIT = 200;
const BROKEN_BAR = '\u00a6';

const textObject = (text: string) => ({ type: 'mrkdwn', text, verbatim: true });
const section = (text: string) => ({ type: 'section', text: textObject(text) });
const lengthOf = (piece: string) => escapeEntities(piece).length;

/** The message of a digest for an incoming webhook: the first matches as links, and how many more there are. */
export function slackDigest(monitor: { name: string }, digest: Digest): Record<string, unknown> {
  const title = `${digestTitle(digest)} of ${escapeSlackLine(monitor.name, NAME_LIMIT)}`;
  const more = unlisted(digest);
  const lines = digest.matches.slice(0, LISTED_MATCHES).map((match) => {
    const said = escapeSlackLine(matchTitle(match), TITLE_LIMIT).replaceAll('|', BROKEN_BAR);
    const target = linkTarget(match.permalink, lengthOf);
    const link = target === undefined ? said : `<${escapeEntities(target)}|${said}>`;
    return section(`${link} · r/${escapeSlackLine(match.subreddit, NAME_LIMIT)}`);
  });
  return message(`*${title}*`, title, [...lines, section(pageLink(digest.url, more ?? 'all of them'))]);
}

/** The message of a spike for an incoming webhook. */
export function slackSpike(monitor: { name: string }, spike: Spike): Record<string, unknown> {
  const about = spike.keyword === undefined ? '' : ` · ${escapeSlackLine(spike.keyword, NAME_LIMIT)}`;
  const title = `Unusually many matches of ${escapeSlackLine(monitor.name, NAME_LIMIT)}${about}`;
  return message(`*${title}*`, `${title}: ${spikeSentence(spike)}`, [section(spikeSentence(spike))]);
}

function message(title: string, text: string, rest: object[]): Record<string, unknown> {
  return { text, blocks: [section(title), ...rest], unfurl_links: false, unfurl_media: false };
}

function pageLink(url: string, said: string): string {
  const target = linkTarget(url, lengthOf);
  return target === undefined ? said : `<${escapeEntities(target)}|${said}>`;
}
