import fc from 'fast-check';
import type { Comment } from '../../../schemas/messages/forum-post.ts';
import { commentOf, postOf } from './forum-threads.ts';

/** Pieces of hostile texts: everything that is special to a Markdown parser, and ways to hide it. */
const PIECES = [
  ...[
    '# h',
    '## Comments (1 of 1)',
    '#',
    '===',
    '---',
    '- - -',
    '***',
    '___',
    '- a',
    '* a',
    '+ a',
    '1. a',
    '2) a',
    '-',
    '=',
  ],
  ...[
    '> ',
    '>',
    '>>',
    ' ',
    '  ',
    '    ',
    '\t',
    '\n',
    '\n',
    '\n',
    '\n\n',
    '\r',
    '\u2028',
    '\f',
    '\u0000',
    '\u00a0',
    '\u200b',
  ],
  ...[
    '```',
    '````',
    '``',
    '`',
    '~~~',
    '~~~~',
    '<!--',
    '-->',
    '<div>',
    '</div>',
    '<script>',
    '<b',
    '<a href="',
    '">',
    '<?x',
  ],
  ...[
    '<!X',
    '<![CDATA[',
    ']]>',
    '<https://x.example>',
    '<x@y.example>',
    '[a]: https://x.example',
    '[OP]: /u',
    '[a]',
    '[',
  ],
  ...[
    '](',
    ')',
    ']',
    '](a`b',
    'www.x.example`',
    'https://x.example/`',
    '\\',
    '\\\\',
    '\\`',
    '|',
    '|---|',
    '--- | ---',
    '**',
  ],
  ...[
    '- **u/admin** [OP] · 9 points · 2026-01-01T00:00:00Z · t1_abc',
    '_9 more comments: raise max_comments_',
    '&#35; x',
  ],
  ...['&lt;', '$$', ':::', '[^1]: x', '+++', 'a', 'b c', 'é', '\ud83d\ude00', '\ud800', "'", '"', 'a | b', '*', '_'],
];
const hostileText = fc.array(
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...PIECES) }, { weight: 1, arbitrary: fc.string() }),
  {
    maxLength: 14,
  },
);
const text = hostileText.map((pieces) => pieces.join(''));

const anyComment = (id: string, parent: string, depth: number) =>
  fc
    .record({ author: text, body: text, is_submitter: fc.boolean() })
    .map((fields): Comment => ({ ...commentOf(id, parent), depth, ...fields }));
/** a(b c) d, or a chain of 11. */
const someComments = fc.oneof(
  fc
    .tuple(
      anyComment('a', 't3_p0st', 0),
      anyComment('b', 't1_a', 1),
      anyComment('c', 't1_a', 1),
      anyComment('d', 't3_p0st', 0),
    )
    .map(([a, b, c, d]) => [{ ...a, replies: [b, c] }, d]),
  fc
    .tuple(...Array.from({ length: 11 }, (_, depth) => anyComment(`c${depth}`, 't1_x', depth)))
    .map((chain) => [chain.reduceRight((below, above) => ({ ...above, replies: [below] }))]),
);
const media = fc.record({
  type: fc.constantFrom('image', 'gallery'),
  url: text,
  width: fc.nat(1),
  height: fc.nat(1),
  caption: text,
});
const poll = fc.record({
  total_votes: fc.nat(9),
  is_closed: fc.boolean(),
  options: fc.array(fc.record({ id: fc.constant('1'), text, vote_count: fc.nat(2) }), { maxLength: 2 }),
});
/** Posts with comments in which every user-written text is hostile. */
export const hostilePost = fc
  .record({
    title: text,
    author: text,
    subreddit: text,
    flair: text,
    selftext: text,
    url: text,
    is_self: fc.boolean(),
    media: fc.array(media, { maxLength: 2 }),
    poll: fc.option(poll),
    crosspost_of: fc.option(
      fc.record({ id: fc.constant('q'), subreddit: text, title: text, author: text, permalink: text }),
    ),
    comments: someComments,
  })
  .map((fields) => postOf(fields));
