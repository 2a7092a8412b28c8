import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MonitorMatch } from '../../../../../schemas/messages/monitor-match.ts';
import { slackMessage } from '../../../../../shared/deliveries/rules/slack-message.ts';
import { chatMatch, hostileMatch } from '../../../../support/samples/chat-matches.ts';
import { answerAsSlack, readMrkdwn, textsOf } from '../../../../support/fakes/strict-slack.ts';
import type { SlackPayload } from '../../../../support/fakes/strict-slack.ts';

const MONITOR = { name: 'my metals' };
const PERMALINK = chatMatch().permalink;

/** The message as the strict Slack takes it. */
function accepted(match: MonitorMatch, monitor = MONITOR): SlackPayload {
  const answer = answerAsSlack(JSON.stringify(slackMessage(monitor, match)));
  if (!('message' in answer)) throw new Error(answer.problem);
  return answer.message;
}

/** Nothing but ours: one link by title, one in the fallback, the bold title and hit, the date. */
function expectOnlyOurs(match: MonitorMatch, monitor = MONITOR): void {
  const payload = accepted(match, monitor);
  const texts = textsOf(payload);
  const readings = texts.map(readMrkdwn);
  expect(readings.flatMap(({ links }) => links.map(({ url }) => url))).toEqual([match.permalink]);
  expect(readings.flatMap(({ dates }) => dates)).toHaveLength(1);
  expect(readings[0]!.bold).toHaveLength(1);
  if (texts.length === 3) expect(readings[1]!.bold.length).toBeLessThanOrEqual(1);
  expect(readings.at(-1)!.bold).toEqual([]);
  const fallback = readMrkdwn(payload.text);
  expect(fallback.links).toEqual([{ url: match.permalink, label: '' }]);
  expect(fallback.bold).toEqual([]);
  for (const { mentions, formatted } of [...readings, fallback]) expect([...mentions, ...formatted]).toEqual([]);
}

describe('slackMessage', () => {
  test('is a linked title, an excerpt with the hit in bold, and a line of context', () => {
    expect(slackMessage(MONITOR, chatMatch())).toEqual({
      text: `rust in r/metals: Water and air make rust of it.\n<${PERMALINK}>`,
      blocks: [
        { type: 'section', text: { type: 'mrkdwn', text: `*<${PERMALINK}|On iron>*`, verbatim: true } },
        { type: 'section', text: { type: 'mrkdwn', text: 'Water and air make *rust* of it.', verbatim: true } },
        {
          type: 'context',
          elements: [
            {
              type: 'mrkdwn',
              text: 'rust · r/metals · u/smith · <!date^1795255200^{date_short_pretty} {time}|2026-11-21T10:00:00.000Z> · my metals',
              verbatim: true,
            },
          ],
        },
      ],
      unfurl_links: false,
      unfurl_media: false,
    });
  });

  test('names a post by its title, and has no excerpt of a post without text', () => {
    const payload = accepted(chatMatch({ kind: 'post', title: 'Rust!', body: ' \u200b\n' }));
    expect(payload.text).toBe(`rust in r/metals: Rust!\n<${PERMALINK}>`);
    expect(payload.blocks.map(({ type }) => type)).toEqual(['section', 'context']);
  });

  test.each([
    ['a script without spaces', '我用rust写', 'rust', '我用\u200b*rust*\u200b写'],
    ['punctuation', '(rust)', 'rust', '(\u200b*rust*\u200b)'],
    ['the whole text', 'rust', 'rust', '*rust*'],
    ['a phrase over two lines', 'in new\n york.', 'new york', 'in *new york*\u200b.'],
    ['entities in the text', 'a &amp; rust <b>', 'rust', 'a &amp;amp; *rust* &lt;b&gt;'],
    ['names with low lines', 'snake_case rust _x_', 'rust', 'snake_case *rust* \u02cdx\u02cd'],
    ['a quotation', '> rust', 'rust', '\u00ad&gt; *rust*'],
  ])('marks the hit in %s', (_, body, keyword, text) => {
    expect(textsOf(accepted(chatMatch({ body, matched_terms: [keyword] })))[1]).toBe(text);
  });

  test('leaves no emoji where a name ends and our own colon follows', () => {
    expect(accepted(chatMatch({ subreddit: ':smile' })).text).toContain('rust in r/\ua789smile: ');
  });

  test('keeps a link with every sign that means something in the markup whole', () => {
    const permalink = 'https://forum.example/a?b=1&c=<|>';
    const [title] = textsOf(accepted(chatMatch({ permalink, title: 'a|b > c' })));
    expect(title).toBe('*<https://forum.example/a?b=1&amp;c=%3C%7C%3E|a\u00a6b &gt; c>*');
  });

  test.each([
    'javascript:alert(1)',
    'not a URL',
    `https://forum.example/${'x'.repeat(1_000)}`,
    `https://forum.example/${'&'.repeat(900)}`,
  ])('does not link %s', (permalink) => {
    const payload = accepted(chatMatch({ permalink }));
    expect(textsOf(payload)[0]).toBe('*On iron*');
    expect(payload.text).toBe('rust in r/metals: Water and air make rust of it.');
  });

  test('is within every limit when all texts grow by their escapes', () => {
    const long = '&'.repeat(40_000);
    const texts = {
      title: long,
      author: long,
      subreddit: long,
      permalink: `https://forum.example/?${'&'.repeat(190)}`,
    };
    const payload = accepted(chatMatch({ ...texts, body: `${long} rust ${long}` }), { name: long });
    const excerpt = textsOf(payload)[1]!;
    expect(excerpt).toContain('&amp; *rust* &amp;');
    expect(excerpt.length).toBeGreaterThan(580);
    expect(excerpt.length).toBeLessThanOrEqual(600);
  });

  test('is accepted and holds nothing but ours whatever the texts are', () => {
    fc.assert(
      fc.property(hostileMatch, ({ match, monitor }) => expectOnlyOurs(match, monitor)),
      { numRuns: 100 },
    );
  });
});
