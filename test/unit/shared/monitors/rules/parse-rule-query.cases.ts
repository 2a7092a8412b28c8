import type { RuleSettings } from '../../../../../shared/monitors/rules/print-rule-query.ts';

/** Queries that can be read, with the settings that differ from those of an empty rule. */
export const READABLE: [query: string, settings: Partial<RuleSettings>][] = [
  // Keywords
  ['rust', { keywords: ['rust'] }],
  ['rust OR go', { keywords: ['rust', 'go'] }],
  ['rust\u3000OR\tgo', { keywords: ['rust', 'go'] }],
  ['"memory safety"', { keywords: ['memory safety'] }],
  ['“memory safety” OR „Speicher“', { keywords: ['memory safety', 'Speicher'] }],
  ['"a \\"b\\" \\\\ \\n c"', { keywords: ['a "b" \\ \\n c'] }],
  ['back\\slash', { keywords: ['back\\slash'] }],
  ['"two\nlines"', { keywords: ['two\nlines'] }],
  [
    'C++ OR node.js OR AT&T OR $TSLA OR #rust OR e-mail OR 10:30',
    {
      keywords: ['C++', 'node.js', 'AT&T', '$TSLA', '#rust', 'e-mail', '10:30'],
    },
  ],
  ['咖啡 OR コーヒー OR 🦀', { keywords: ['咖啡', 'コーヒー', '🦀'] }],
  ['"OR" OR "AND" OR "NOT" OR or', { keywords: ['OR', 'AND', 'NOT', 'or'] }],
  [
    '"title:x" OR "rust*" OR "-game" OR "=Rust" OR "(x)" OR "a,b"',
    {
      keywords: ['title:x', 'rust*', '-game', '=Rust', '(x)', 'a,b'],
    },
  ],
  ['rust OR (go OR zig)', { keywords: ['rust', 'go', 'zig'] }],
  ['""', { keywords: [''] }],
  // Terms
  ['hir*', { terms: [{ text: 'hir', prefix: true }] }],
  ['"don\'t"*', { terms: [{ text: "don't", prefix: true }] }],
  ['="Memory Safety"', { terms: [{ text: 'Memory Safety', caseSensitive: true }] }],
  ['=Rust*', { terms: [{ text: 'Rust', prefix: true, caseSensitive: true }] }],
  ['title:rust', { terms: [{ text: 'rust', in: ['title'] }] }],
  [
    'post_title,body:=Rust*',
    {
      terms: [{ text: 'Rust', prefix: true, caseSensitive: true, in: ['post_title', 'body'] }],
    },
  ],
  ['title,title:rust', { terms: [{ text: 'rust', in: ['title'] }] }],
  [
    'title:(rust OR =Go)',
    {
      terms: [
        { text: 'rust', in: ['title'] },
        { text: 'Go', caseSensitive: true, in: ['title'] },
      ],
    },
  ],
  ['term:rust', { terms: [{ text: 'rust' }] }],
  ['go OR hir* OR rust', { keywords: ['go', 'rust'], terms: [{ text: 'hir', prefix: true }] }],
  // A term with a field may stand without OR.
  ['rust title:hir*', { keywords: ['rust'], terms: [{ text: 'hir', prefix: true, in: ['title'] }] }],
  [
    'title:(a OR b) rust',
    {
      keywords: ['rust'],
      terms: [
        { text: 'a', in: ['title'] },
        { text: 'b', in: ['title'] },
      ],
    },
  ],
  [
    'rust OR "memory safety" author:-automod sub:-rustjerk title:hiring*',
    {
      keywords: ['rust', 'memory safety'],
      terms: [{ text: 'hiring', prefix: true, in: ['title'] }],
      excludeSubreddits: ['rustjerk'],
      excludeAuthors: ['automod'],
    },
  ],
  // Required groups
  ['rust AND (hiring OR job OR position)', { keywords: ['rust'], require: [['hiring', 'job', 'position']] }],
  ['(rust OR go) AND job AND remote', { keywords: ['rust', 'go'], require: [['job'], ['remote']] }],
  [
    '(rust OR hir*) AND (=Job OR term:x OR title:y)',
    {
      keywords: ['rust'],
      terms: [{ text: 'hir', prefix: true }],
      require: [[{ text: 'Job', caseSensitive: true }, { text: 'x' }, { text: 'y', in: ['title'] }]],
    },
  ],
  [
    'rust AND title:(a OR b)',
    {
      keywords: ['rust'],
      require: [
        [
          { text: 'a', in: ['title'] },
          { text: 'b', in: ['title'] },
        ],
      ],
    },
  ],
  // Excluded terms
  ['-"video game" rust -x', { keywords: ['rust'], exclude: ['video game', 'x'] }],
  ['rust –game —x −y', { keywords: ['rust'], exclude: ['game', 'x', 'y'] }],
  ['NOT "a b" rust', { keywords: ['rust'], exclude: ['a b'] }],
  ['rust AND NOT game AND -x', { keywords: ['rust'], exclude: ['game', 'x'] }],
  ['-a AND rust', { keywords: ['rust'], exclude: ['a'] }],
  ['rust -"-x"', { keywords: ['rust'], exclude: ['-x'] }],
  // Filters
  ['rust sub:a,b sub:c', { keywords: ['rust'], subreddits: ['a', 'b', 'c'] }],
  ['rust sub:r/golang SUB:"/r/b"', { keywords: ['rust'], subreddits: ['r/golang', '/r/b'] }],
  ['rust sub:-a,-b -sub:c,d', { keywords: ['rust'], excludeSubreddits: ['a', 'b', 'c', 'd'] }],
  ['rust sub:a sub:-b', { keywords: ['rust'], subreddits: ['a'], excludeSubreddits: ['b'] }],
  ['rust author:a,u/b author:-c', { keywords: ['rust'], authors: ['a', 'u/b'], excludeAuthors: ['c'] }],
  ['rust author:"-a" author:-"-b"', { keywords: ['rust'], authors: ['-a'], excludeAuthors: ['-b'] }],
  ['rust NOT author:a', { keywords: ['rust'], excludeAuthors: ['a'] }],
  ['rust lang:en,DE lang:und', { keywords: ['rust'], languages: ['en', 'de', 'und'] }],
  ['rust in:title,body', { keywords: ['rust'], matchIn: ['title', 'body'] }],
  ['rust in:post_title in:Title', { keywords: ['rust'], matchIn: ['post_title', 'title'] }],
  ['rust is:post', { keywords: ['rust'], comments: false }],
  ['rust is:post,comment', { keywords: ['rust'] }],
  ['rust -is:post', { keywords: ['rust'], posts: false }],
  ['rust is:-post,-comment', { keywords: ['rust'], posts: false, comments: false }],
  ['rust nsfw:yes', { keywords: ['rust'], nsfw: true }],
  ['rust nsfw:no NSFW:No', { keywords: ['rust'] }],
  ['rust once:thread', { keywords: ['rust'], threadOnce: true }],
  ['rust AND sub:golang AND nsfw:yes', { keywords: ['rust'], subreddits: ['golang'], nsfw: true }],
  ['rust sub:a AND job -x', { keywords: ['rust'], require: [['job']], subreddits: ['a'], exclude: ['x'] }],
];

/** Queries that cannot be read; « stands before the position. */
export const REFUSED: [marked: string, message: string][] = [
  ['«', 'at least one keyword'],
  ['sub:rust -x«', 'at least one keyword'],
  // Quotes
  ['rust OR «"memory safety', 'quotes are not closed'],
  ['«"a\\"', 'quotes are not closed'],
  ['"a"«"b"', 'space is missing'],
  // Operators
  ['«OR rust', 'a term is missing before "OR"'],
  ['rust «OR', 'a term is missing after "OR"'],
  ['rust OR «OR go', '"OR" follows "OR"'],
  ['rust AND «OR go', '"OR" follows "AND"'],
  ['rust OR go «AND zig', 'are mixed'],
  ['rust AND go «title:x', 'are mixed'],
  ['memory «safety', 'write OR or AND'],
  ['rust sub:a «go', 'write OR or AND'],
  ['rust «or go', '"OR" in capitals'],
  // Excluded terms and filters are no alternatives
  ['rust OR «-go', 'OR can only join terms'],
  ['rust sub:a «OR go', 'OR can only join terms'],
  // Groups
  ['«()', 'the parentheses are empty'],
  ['rust AND «(go', 'not closed'],
  ['(rust OR «)', 'a term is missing after "OR"'],
  ['(rust «AND)', 'put "AND" between parentheses'],
  ['(«OR rust)', 'a term is missing before "OR"'],
  ['(rust «AND go)', 'put "AND" between parentheses'],
  ['(rust «go)', 'write OR or AND'],
  ['(rust OR «(go OR zig))', 'no further parentheses'],
  ['(rust «-go)', 'write it outside'],
  ['title:(a OR «body:b)', 'already have a field'],
  ['rust«(go)', 'space is missing'],
  ['(rust)«go', 'space is missing'],
  ['rust«)', 'no opening parenthesis'],
  ['rust -«(go OR zig)', 'group cannot be excluded'],
  // Excluded terms
  ['rust «-', '"-" must be followed by a term'],
  ['rust «NOT', '"NOT" must be followed by a term'],
  ['rust -«-go', 'use one minus'],
  ['rust -sub:«-go', 'use one minus'],
  ['rust -«go*', 'cannot have an asterisk'],
  ['rust -«=Go', 'cannot have a "="'],
  ['rust -«title:go', 'cannot have a field'],
  ['rust title:«-go', 'cannot have a field'],
  ['rust -«tilte:go', 'did you mean "title:"'],
  // Terms
  ['ru«*st', 'end of a word'],
  ['«*', 'end of a word'],
  ['"a"*«*', 'space is missing'],
  ['=«', 'a value must follow "="'],
  ['title:«', 'a value must follow "title:"'],
  ['title:« rust', 'must follow "title:" directly, without a space'],
  ['title:=«', 'a value must follow "title:="'],
  ['rust«, go', '"," cannot be used here'],
  ['title:a«,b', '"," cannot be used here'],
  // Fields
  ['«tilte:hiring', 'did you mean "title:"'],
  ['rust «subreddit:go', 'did you mean "sub:"'],
  ['rust «language:en', 'did you mean "lang:"'],
  ['rust «flair:job', 'the fields are title, body, post_title, in, sub, author, lang, is, nsfw, once; put a term'],
  ['rust «flair_of_a_post_that_is_far_too_long:job', '"flair_of_a_post_that_is_far_to:" is not a field'],
  ['rust «selftext:x', 'did you mean "body:"'],
  ['rust «post_titel:x', 'did you mean "post_title:"'],
  ['rust «nfsw:x', 'did you mean "nsfw:"'],
  ['rust «lnga:x', 'the fields are'],
  ['«https://example.com', 'in quotes'],
  ['title,«bdy:x', 'did you mean "body:"'],
  ['«sub,author:x', '"sub" cannot be combined'],
  ['title,«term:x', '"term" cannot be combined'],
  ['rust sub:«', 'a value must follow "sub:"'],
  ['rust sub:a,«', 'a value must follow ","'],
  ['rust sub:a,« b', 'must follow "," directly, without a space'],
  ['rust sub:«,a', '"," cannot be used here'],
  ['rust sub:a,«-b', 'or before none'],
  ['rust sub:«(a)', 'a value must follow "sub:"'],
  ['rust in:«titel', '"in:" accepts title, body, post_title'],
  ['rust -lang:«en', '"lang:" cannot be excluded'],
  ['rust is:«link', '"is:" accepts post, comment'],
  ['rust nsfw:«maybe', '"nsfw:" accepts yes, no'],
  ['rust nsfw:yes nsfw:«no', 'contradicts "nsfw:yes"'],
  ['rust -nsfw:«yes', '"nsfw:" cannot be excluded'],
  ['rust once:«day', '"once:" accepts thread'],
  // What a rule cannot store
  ['rust OR "a«\0"', 'NUL'],
  ['rust OR «\ud800', 'surrogate'],
  ['🦀 «)', 'no opening parenthesis'],
];
