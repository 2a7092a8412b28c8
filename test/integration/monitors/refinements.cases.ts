/** Conditions as sent, and as the monitor of the answer has them; undefined: absent from the answer. */
type Accepted = readonly [given: Record<string, unknown>, shown: Record<string, unknown>];

const names = (count: number) => Array.from({ length: count }, (_, at) => `name_${at}`);
const words = (count: number) => Array.from({ length: count }, (_, at) => `word${at}`);
const terms = (count: number) => words(count).map((text) => ({ text }));

export const ACCEPTED: readonly Accepted[] = [
  [{ terms: [{ text: ' Hiring ' }] }, { terms: [{ text: 'Hiring' }] }],
  [
    { terms: [{ text: 'Rust', prefix: true, case_sensitive: true, in: ['body'] }] },
    { terms: [{ text: 'Rust', prefix: true, case_sensitive: true, in: ['body'] }] },
  ],
  [
    { terms: [{ text: 'Rust', case_sensitive: true }, { text: 'rust' }, { text: 'RUST' }] },
    { terms: [{ text: 'Rust', case_sensitive: true }, { text: 'rust' }] },
  ],
  [{ terms: [{ text: '咖啡' }, { text: 'memory safety' }] }, { terms: [{ text: '咖啡' }, { text: 'memory safety' }] }],
  [{ terms: terms(19) }, { terms: terms(19) }],
  [
    { keywords: undefined, terms: [{ text: 'rust' }] },
    { keywords: [], terms: [{ text: 'rust' }] },
  ],
  [
    { require: [['hiring', 'job', { text: 'recruit', prefix: true }], ['remote']] },
    { require: [['hiring', 'job', { text: 'recruit', prefix: true }], ['remote']] },
  ],
  [{ require: [words(20), words(20), words(20), words(20), words(20)] }, { require: Array(5).fill(words(20)) }],
  [{ match_in: ['post_title', 'body', 'body'] }, { match_in: ['body', 'post_title'] }],
  [{ exclude_subreddits: ['r/Rust', '/r/rust', 'golang'] }, { exclude_subreddits: ['Rust', 'golang'] }],
  [{ exclude_subreddits: names(50) }, { exclude_subreddits: names(50) }],
  [{ authors: ['u/Ana', '/u/ana', 'bob-2'] }, { authors: ['Ana', 'bob-2'] }],
  [{ thread_once: false }, { thread_once: undefined }],
];

/** Conditions beside the keyword `rust`, and how the message of the refusal begins. */
export const REFUSED: readonly (readonly [given: Record<string, unknown>, message: string])[] = [
  [{ terms: [{ text: 'ok' }, { text: 'x' }] }, 'terms[1].text: must have 2 to 100 characters'],
  [{ terms: [{ text: '""__' }] }, 'terms[0].text: contains nothing to match'],
  [{ terms: [{ text: 'a\0b' }] }, 'terms[0].text: must not contain NUL'],
  [{ terms: [{ text: 'ru', prefix: true }] }, 'terms[0].text: must be one word of at least 3 letters'],
  [{ terms: [{ text: 'rust', in: ['text'] }] }, 'terms[0].in[0]: must be title or body or post_title'],
  [{ terms: terms(21) }, 'terms: must have at most 20 terms'],
  [{ keywords: words(20), terms: [{ text: 'rust' }] }, 'terms: must have at most 20 terms together with keywords'],
  [{ keywords: [], terms: [] }, 'keywords: must have at least one term, or "terms" must'],
  [{ require: [[{ text: 'ok' }, { text: 'x' }]] }, 'require[0][1].text: must have 2 to 100 characters'],
  [{ require: [words(21)] }, 'require[0]: must have at most 20 terms'],
  [{ require: Array(6).fill(['ok']) }, 'require: must have at most 5 groups'],
  [{ match_in: ['title', 'Body'] }, 'match_in[1]: must be title or body or post_title'],
  [{ exclude_subreddits: ['ok_ok', 'r/'] }, 'exclude_subreddits[1]: must be the name of a community'],
  [{ authors: ['[deleted]'] }, 'authors[0]: must be the name of an account'],
  [{ authors: names(51) }, 'authors: must have at most 50 names'],
  [{ languages: ['en', 'eng'] }, 'languages[1]: must be a known ISO 639-1 code'],
  [{ terms: Array(3_000).fill({ text: 'rust' }) }, 'terms: has too many entries'],
];

/** Each condition: a value, another one, and what removes it. */
export const CHANGES: readonly (readonly [field: string, first: unknown, second: unknown, removals: unknown[]])[] = [
  ['terms', [{ text: 'hiring', prefix: true }], [{ text: 'hiring' }], [null, []]],
  ['require', [['job', 'position']], [['job'], ['position']], [null, []]],
  ['match_in', ['title'], ['body', 'post_title'], [null, []]],
  ['exclude_subreddits', ['golang'], ['Golang'], [null, []]],
  ['authors', ['ana'], ['ana', 'bob'], [null, []]],
  ['exclude_authors', ['automod'], ['someone'], [null, []]],
  ['languages', ['en'], ['de', 'und'], [null, []]],
  ['thread_once', true, true, [null, false]],
];
