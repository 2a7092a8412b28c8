import { renderPostMarkdown } from '../../../services/api/reading/comments/post-markdown.ts';
import type { Comment } from '../../../schemas/messages/forum-post.ts';
import { commentOf, postOf } from '../../support/samples/forum-threads.ts';
import type { Bench } from '../main.ts';

const COMMENTS = 2_000;
/** Characters of each comment. */
const LENGTH = 1_000;
/**
 * Units that are repeated to the given length. They make a Markdown parser, or an expression that searches for its
 * marks, look far ahead.
 */
const UNITS = [
  ...['- ', '| - ', '|-', '|:-: ', '-|', '> ', '>', '>\t', '#', '=', '~', '`', '``` `', '1.', '*', '_*', '+', '$', ':'],
  ...['<', '</', '<a ', '<!--', '[', '](', '[a](', '\\', '&', '@', 'www.', '://', '\u200b', '\u0301', '漢', 'word '],
  ...['\n', '\n-', '\n=\n', '\n> ', '\n```\n', '\n    a', '\n[a]:', '\\\n', ' \n', '\r', '\t'],
];
const RUNS = 5;
const RATIO_LENGTHS = [10_000, 40_000] as const;

function bodyOf(unit: string, length: number): string {
  return `|-${unit.repeat(Math.ceil(length / unit.length)).slice(0, length)}x`;
}

/** One hundred chains of twenty replies. */
function threadOf(bodyAt: (index: number) => string): Comment[] {
  const roots: Comment[] = [];
  let above: Comment | undefined;
  for (let index = 0; index < COMMENTS; index++) {
    const depth = index % 20;
    const comment = { ...commentOf(`c${index}`, 't3_p0st'), depth, body: bodyAt(index), replies: [] as Comment[] };
    if (depth === 0) roots.push(comment);
    else above!.replies.push(comment);
    above = comment;
  }
  return roots;
}

function fastestMs(work: () => unknown): number {
  let fastest = Infinity;
  for (let run = 0; run < RUNS; run++) {
    const begun = performance.now();
    work();
    fastest = Math.min(fastest, performance.now() - begun);
  }
  return Math.round(fastest * 10) / 10;
}

function renderMs(comments: Comment[]): number {
  const post = { ...postOf({}), comments };
  const meta = { comments_returned: COMMENTS, comments_total: COMMENTS, has_more: false };
  return fastestMs(() => renderPostMarkdown(post, meta));
}

/**
 * Renders the Markdown of a thread of 2,000 comments in which everything is hostile, and measures how the time grows
 * with the length of one comment.
 */
const bench: Bench = async (report) => {
  const bodies = UNITS.map((unit) => bodyOf(unit, LENGTH));
  report({
    comments: COMMENTS,
    characters: LENGTH,
    mixed_ms: renderMs(threadOf((index) => bodies[index % bodies.length]!)),
  });
  const slowest = UNITS.map((unit, index) => ({ unit, ms: renderMs(threadOf(() => bodies[index]!)) }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, 5);
  report({ slowest });
  const growth = UNITS.map((unit) => {
    const [short = 0, long = 0] = RATIO_LENGTHS.map((length) =>
      renderMs([{ ...commentOf('a', 't3_p0st'), body: bodyOf(unit, length) }]),
    );
    return { unit, short_ms: short, long_ms: long };
  });
  report({ lengths: RATIO_LENGTHS, longest: growth.sort((a, b) => b.long_ms - a.long_ms).slice(0, 5) });
  return Promise.resolve();
};

export default bench;
