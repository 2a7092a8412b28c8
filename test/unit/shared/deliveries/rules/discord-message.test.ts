import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MonitorMatch } from '../../../../../schemas/messages/monitor-match.ts';
import { plainLine } from '../../../../../shared/deliveries/rules/chat-text.ts';
import { discordMessage, discordRequestUrl } from '../../../../../shared/deliveries/rules/discord-message.ts';
import { chatMatch, hostileMatch, HOSTILE_TEXTS } from '../../../../support/samples/chat-matches.ts';
import { answerAsDiscord, readDiscordMarkdown } from '../../../../support/fakes/strict-discord.ts';
import type { DiscordPayload } from '../../../../support/fakes/strict-discord.ts';

const MONITOR = { name: 'my metals' };
const PATH = '/api/webhooks/1/token?wait=true';

/** The embed as the strict Discord takes it. */
function accepted(match: MonitorMatch, monitor = MONITOR): DiscordPayload['embeds'][0] {
  const answer = answerAsDiscord(PATH, JSON.stringify(discordMessage(monitor, match)));
  if (!('message' in answer)) throw new Error(answer.problem);
  expect(answer.message.allowed_mentions).toEqual({ parse: [] });
  return answer.message.embeds[0]!;
}

function expectOnlyOurs(match: MonitorMatch, monitor = MONITOR): void {
  const { title, url, description = '', fields } = accepted(match, monitor);
  expect(url).toBe(match.permalink);
  const marked = readDiscordMarkdown(description);
  expect(marked.active).toEqual([]);
  expect(marked.bold.length).toBeLessThanOrEqual(1);
  for (const text of [title, ...fields.map(({ value }) => value)]) {
    expect(readDiscordMarkdown(text)).toMatchObject({ bold: [], active: [] });
  }
}

describe('discordMessage', () => {
  test('is one embed with everything about the match, and mentions nobody', () => {
    expect(discordMessage(MONITOR, chatMatch())).toEqual({
      embeds: [
        {
          title: 'On iron',
          url: 'https://forum.example/r/metals/comments/p/_/abc/',
          description: 'Water and air make **rust** of it.',
          fields: [
            { name: 'Keyword', value: 'rust', inline: true },
            { name: 'Subreddit', value: 'r/metals', inline: true },
          ],
          footer: { text: 'u/smith · my metals' },
          timestamp: '2026-11-21T10:00:00.000Z',
        },
      ],
      allowed_mentions: { parse: [] },
    });
  });

  test('has no description of a post without text, and no link that is none', () => {
    const embed = accepted(chatMatch({ kind: 'post', body: '\u2800 \u200b', title: '', permalink: 'javascript:1' }));
    expect(embed).not.toHaveProperty('description');
    expect(embed).not.toHaveProperty('url');
    expect(embed.title).toBe('post in r/metals');
  });

  test.each([
    ['a star', 'a * rust', 'rust', 'a \\* **rust**'],
    ['a bare URL', 'rust: https://x.example', 'rust', '**rust**\\: https\\://x.example'],
    ['a list', '- rust', 'rust', '\\- **rust**'],
    ['a numbered list', '1. rust', 'rust', '1\\. **rust**'],
    ['a keyword of signs', 'so :-) now', ':-)', 'so **\\:-)** now'],
    ['a script without spaces', '我用rust写', 'rust', '我用**rust**写'],
  ])('marks the hit in a text with %s', (_, body, keyword, description) => {
    expect(accepted(chatMatch({ body, matched_terms: [keyword] })).description).toBe(description);
  });

  test('is within every limit when all texts grow by their escapes', () => {
    const long = '*'.repeat(40_000);
    const texts = { title: long, author: long, subreddit: long };
    const embed = accepted(chatMatch({ ...texts, body: `${long} rust ${long}`, matched_terms: ['rust'] }), {
      name: long,
    });
    expect(embed.title).toHaveLength(255);
    expect(embed.description!.length).toBeGreaterThan(590);
    expect(readDiscordMarkdown(embed.description!).bold).toEqual(['rust']);
  });

  test.each(HOSTILE_TEXTS)('shows %j as it is written, without mentioning, linking or formatting', (text) => {
    expectOnlyOurs(chatMatch({ body: `${text} rust ${text}`, title: text, author: text, subreddit: text }), {
      name: text,
    });
    const match = chatMatch({ kind: 'post', body: text, title: text, matched_terms: ['absent'] });
    expectOnlyOurs(match);
    expect(readDiscordMarkdown(accepted(match).description!).shown).toBe(plainLine(text).trim());
    expect(readDiscordMarkdown(accepted(match).title).shown).toBe(plainLine(text).trim());
  });

  test('is accepted and holds nothing but ours whatever the texts are', () => {
    fc.assert(
      fc.property(hostileMatch, ({ match, monitor }) => expectOnlyOurs(match, monitor)),
      { numRuns: 100 },
    );
  });
});

test.each([
  ['http://127.0.0.1:9/api/webhooks/1/t', 'http://127.0.0.1:9/api/webhooks/1/t?wait=true'],
  ['http://127.0.0.1:9/h?thread_id=7&x=a%20b', 'http://127.0.0.1:9/h?thread_id=7&x=a%20b&wait=true'],
  ['http://127.0.0.1:9/h?wait=false&thread_id=7', 'http://127.0.0.1:9/h?wait=true&thread_id=7'],
  ['https://discord.com/api/webhooks/1/t', 'https://discord.com/api/v10/webhooks/1/t?wait=true'],
  [
    'https://ptb.discord.com/api/webhooks/1/t?thread_id=7',
    'https://ptb.discord.com/api/v10/webhooks/1/t?thread_id=7&wait=true',
  ],
  ['https://discord.com/api/v9/webhooks/1/t', 'https://discord.com/api/v9/webhooks/1/t?wait=true'],
  ['not a URL', 'not a URL'],
])('a request for %s goes to %s', (webhookUrl, requestUrl) => {
  expect(discordRequestUrl(webhookUrl)).toBe(requestUrl);
});
