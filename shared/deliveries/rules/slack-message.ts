import type { Digest, Spike } from '../../../schemas/messages/monitor-event.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import {
  headOf,
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

/**
 * Slack accepts up to 50 blocks a message and up to 3,000 escaped characters in a text object
 * (docs.slack.dev/reference/block-kit/composition-objects/text-object). These messages stay far below.
 */
const EXCERPT_LIMIT = 600;
const TITLE_LIMIT = 300;
const NAME_LIMIT = 200;
/** Two asterisks, the two zero-width spaces around them, and a soft hyphen before a leading quote mark. */
const EXCERPT_MARKUP = 5;

/**
 * Slack's markup has no escapes for formatting characters. The usual way is to replace them by similar characters
 * (github.com/yhatt/jsx-slack, docs/about-escape-and-exact-mode.md). The full-width forms format too.
 */
const LOOKALIKES: Readonly<Record<string, string>> = {
  '*': '\u2217',
  '＊': '\ufe61',
  '~': '\u223c',
  '`': '\u02cb',
  '｀': '\u02cb',
  '＿': '\u2e0f',
};
const LOW_LINE = '\u02cd';
const COLON = '\ua789';
const BROKEN_BAR = '\u00a6';
const SOFT_HYPHEN = '\u00ad';
const ZERO_WIDTH_SPACE = '\u200b';

/**
 * Builds the message of one match for an incoming webhook: the linked title, an excerpt with the hit in bold, and a
 * line with keyword, subreddit, author, time and monitor. `verbatim` keeps Slack from turning plain text into links and
 * mentions.
 */
export function slackMessage(monitor: { name: string }, match: MonitorMatch): Record<string, unknown> {
  const excerpt = matchExcerpt(match, EXCERPT_LIMIT - EXCERPT_MARKUP, measure);
  const target = linkTarget(match.permalink, measure);
  const title = escapeSlackLine(matchTitle(match), TITLE_LIMIT).replaceAll('|', BROKEN_BAR);
  return {
    text: fallbackText(match, excerpt, target),
    blocks: [
      section(target === undefined ? `*${title}*` : `*<${escapeEntities(target)}|${title}>*`),
      ...(excerpt ? [section(excerptText(excerpt))] : []),
      { type: 'context', elements: [textObject(contextLine(monitor, match))] },
    ],
    unfurl_links: false,
    unfurl_media: false,
  };
}

const textObject = (text: string) => ({ type: 'mrkdwn', text, verbatim: true });
const section = (text: string) => ({ type: 'section', text: textObject(text) });

/** The text that notifications and clients without blocks show. */
function fallbackText(match: MonitorMatch, excerpt: MatchExcerpt | undefined, target: string | undefined): string {
  const own = match.kind === 'comment' && excerpt ? excerpt.before + excerpt.hit + excerpt.after : matchTitle(match);
  const link = target === undefined ? '' : `\n<${escapeEntities(target)}>`;
  return `${keywordOf(match)} in ${communityOf(match)}: ${escapeSlackLine(own, EXCERPT_LIMIT)}${link}`;
}

function excerptText({ before, hit, after }: MatchExcerpt): string {
  if (hit === '') return escapeStart(before + after);
  // Markup works only at a word boundary; a zero-width space makes one.
  const left = before === '' || before.endsWith(' ') ? '' : ZERO_WIDTH_SPACE;
  const right = after === '' || after.startsWith(' ') ? '' : ZERO_WIDTH_SPACE;
  return `${escapeStart(before)}${left}*${escapeSlack(hit)}*${right}${escapeSlack(after)}`;
}

function contextLine(monitor: { name: string }, match: MonitorMatch): string {
  const seconds = Math.floor(Date.parse(match.created_utc) / 1000);
  const time = `<!date^${seconds}^{date_short_pretty} {time}|${match.created_utc}>`;
  const author = `u/${escapeSlackLine(match.author, NAME_LIMIT)}`;
  return [keywordOf(match), communityOf(match), author, time, escapeSlackLine(monitor.name, NAME_LIMIT)].join(' · ');
}

const keywordOf = (match: MonitorMatch) => escapeSlackLine(match.matched_terms[0] ?? '', NAME_LIMIT);
const communityOf = (match: MonitorMatch) => `r/${escapeSlackLine(match.subreddit, NAME_LIMIT)}`;

function escapeSlackLine(text: string, limit: number): string {
  return escapeStart(headOf(plainLine(text).trim(), limit - 1, measure));
}

/** At least the length of a piece after escapeSlack. */
function measure(piece: string): number {
  return escapeEntities(piece).length + piece.split('@').length - 1;
}

/** Escapes a text that begins a line, where a leading > or ＞ would make it a quotation. */
const escapeStart = (text: string) => (/^[>＞]/.test(text) ? SOFT_HYPHEN : '') + escapeSlack(text);

function escapeSlack(text: string): string {
  const plain = text
    .replace(/[*＊~`｀＿]/g, (character) => LOOKALIKES[character] ?? '')
    // An underscore inside a word does not format, so names keep theirs.
    .replace(/(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, LOW_LINE)
    // The name of an emoji is between two colons, and the second may come from our own text.
    .replace(/:(?=[\p{L}\p{M}\p{N}_+'-]+(?::|$))/gu, COLON)
    .replaceAll('@', `@${ZERO_WIDTH_SPACE}`);
  return escapeEntities(plain);
}

/** Escapes the three characters that begin and end links, mentions and entities. */
function escapeEntities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const EVENT_TITLE_LIMIT = 150;

const lengthOf = (piece: string) => escapeEntities(piece).length;

/** The message of a digest for an incoming webhook: the first matches as links, and how many more there are. */
export function slackDigest(monitor: { name: string }, digest: Digest): Record<string, unknown> {
  const title = `${digestTitle(digest)} for ${escapeSlackLine(monitor.name, NAME_LIMIT)}`;
  const more = unlisted(digest);
  const lines = digest.matches.slice(0, LISTED_MATCHES).map((match) => {
    const said = escapeSlackLine(matchTitle(match), EVENT_TITLE_LIMIT).replaceAll('|', BROKEN_BAR);
    return section(`${pageLink(match.permalink, said)} · r/${escapeSlackLine(match.subreddit, NAME_LIMIT)}`);
  });
  return message(`*${title}*`, title, [...lines, section(pageLink(digest.url, more ?? 'View them all'))]);
}

export function slackSpike(monitor: { name: string }, spike: Spike): Record<string, unknown> {
  const about = spike.keyword === undefined ? '' : ` · ${escapeSlackLine(spike.keyword, NAME_LIMIT)}`;
  const title = `Spike: unusually many matches for ${escapeSlackLine(monitor.name, NAME_LIMIT)}${about}`;
  return message(`*${title}*`, `${title}: ${spikeSentence(spike)}`, [section(spikeSentence(spike))]);
}

function message(title: string, text: string, rest: object[]): Record<string, unknown> {
  return { text, blocks: [section(title), ...rest], unfurl_links: false, unfurl_media: false };
}

function pageLink(url: string, said: string): string {
  const target = linkTarget(url, lengthOf);
  return target === undefined ? said : `<${escapeEntities(target)}|${said}>`;
}
