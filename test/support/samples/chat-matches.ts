import fc from 'fast-check';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';

export function chatMatch(changes: Partial<MonitorMatch> = {}): MonitorMatch {
  return {
    id: 'mat_0123456789ab_000000000007',
    monitor_id: 'mon_0123456789ab',
    thing_id: 't1_abc',
    kind: 'comment',
    subreddit: 'metals',
    author: 'smith',
    title: 'On iron',
    body: 'Water and air make rust of it.',
    permalink: 'https://forum.example/r/metals/comments/p/_/abc/',
    post_id: 'p',
    created_utc: '2026-11-21T10:00:00.000Z',
    matched_terms: ['rust'],
    suppressed: false,
    delivery_status: 'pending',
    created_at: '2026-11-21T10:00:01.000Z',
    delivered_at: null,
    ...changes,
  };
}

/** Hostile texts that try to mention, link, format or break out, in the markup of either product. */
export const HOSTILE_TEXTS = [
  '@everyone @here @channel @group everyone@here',
  '<!channel> <!here> <!everyone> <!subteam^S1|@ops> <@U123ABC> <@U123ABC|boss> <#C123|general>',
  '<@80351110224678912> <@!80351110224678912> <@&165511591545143296> <#103735883630395392> <id:customize>',
  '&lt;!channel&gt; &amp;lt;!here&amp;gt; &#60;!here&#62; &',
  '<https://evil.example|your bank> <https://evil.example> <mailto:a@b.example|x>',
  '[your bank](https://evil.example) [a](<https://evil.example>) ![x](https://evil.example/i.png) [x]: https://evil.example',
  'https://evil.example/a_b_c?x=*y* http://evil.example ftp://evil.example steam://run/1 discord.gg/evil',
  '<!date^1392734382^{date}^https://evil.example|now> <t:1618953630:R> <t:1618953630>',
  '<:mmLol:216154654256398347> <a:b1nzy:392938283556143104> :smile: :white_check_mark::skin-tone-2: </airhorn:816437322781949972>',
  '*b* _i_ ~s~ `c` ```block``` ＊b＊ ＿i＿ ｀c｀',
  '**b** __u__ ***bi*** ~~s~~ ||spoiler|| ``c`` ¯\\_(ツ)_/¯',
  '\\*b\\* \\\\*b\\\\* \\[x](https://evil.example) \\',
  '> quote',
  '>>> all of it',
  '＞ quote',
  '# heading',
  '-# small',
  '- item',
  '+ item',
  '* item',
  '1. item',
  '12) item',
  'first\n> second\r\n# third\u2028- fourth\u0085fifth',
  '|x> | y>',
  '\u202egnp.exe\u202c \u2066x\u2069 \u200fabc',
  '\0\u0001\u001b[31mred\u0007',
  'half \ud83d a pair \ude00',
  '}}]}"\'${x}{{y}}%s',
  'e\u0301\u0301 👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👍🏽 ℹ️',
] as const;

const MARKS = [
  ...Array.from('*_~`|<>[]()#@:!&\\/.+-＊＿｀＞'),
  'https://',
  '@everyone',
  '<@1>',
  '<!here>',
  ':a:',
  '](',
  '\n',
  '\u200b',
];
const piece = fc.oneof(
  fc.constantFrom(...MARKS),
  fc.constantFrom('rust', ' rust ', 'a', '1', ' ', 'é', '水', '👍🏽', '\u0301', '\ud83d'),
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const hostileText = fc.oneof(
  fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
  // Long enough to be truncated, and made of characters that grow when escaped.
  fc.tuple(piece, fc.integer({ min: 1, max: 800 })).map(([text, count]) => text.repeat(count)),
);

/** Matches in which every text is hostile. */
export const hostileMatch: fc.Arbitrary<{ match: MonitorMatch; monitor: { id: string; name: string } }> = fc
  .record({
    kind: fc.constantFrom('post', 'comment'),
    title: hostileText,
    body: fc.oneof(
      hostileText,
      fc.tuple(hostileText, hostileText).map(([before, after]) => `${before} rust ${after}`),
    ),
    author: hostileText,
    subreddit: hostileText,
    keyword: fc.oneof(fc.constant('rust'), hostileText),
    name: hostileText,
  })
  .map(({ keyword, name, ...texts }) => ({
    match: chatMatch({ ...texts, matched_terms: [keyword] }),
    monitor: { id: 'mon_0123456789ab', name },
  }));
