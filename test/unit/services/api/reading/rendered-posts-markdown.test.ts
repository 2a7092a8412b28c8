import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { post as postSchema } from '../../../../../schemas/messages/forum-post.ts';
import { renderPostMarkdown } from '../../../../../services/api/reading/rendered-posts.ts';
import { GOLDEN_CASES } from './golden-markdown/posts.cases.ts';
import { commentOf, postOf } from '../../../../support/samples/forum-threads.ts';
import { expectedStructure, markdownStructure, outlineOf } from '../../../../support/oracles/markdown-structure.ts';

/** Not .md, because a formatter would change files that must match byte by byte. */
const FOLDER = join(import.meta.dirname, './golden-markdown');
const SUFFIX = '.md.golden';

describe('renderPostMarkdown', () => {
  // `vitest run -u` rewrites the files; read the changes before you commit them.
  test.each(GOLDEN_CASES)('$name', async ({ name, post, meta }) => {
    postSchema.parse(post);
    await expect(renderPostMarkdown(post, meta)).toMatchFileSnapshot(join(FOLDER, `${name}${SUFFIX}`));
  });

  test.each(GOLDEN_CASES)('$name has the expected structure', ({ name, post }) => {
    const structure = markdownStructure(readFileSync(join(FOLDER, `${name}${SUFFIX}`), 'utf8'));
    expect(structure.foreign).toEqual([]);
    expect(outlineOf(structure)).toEqual(expectedStructure(post));
  });

  test.each([
    [12, 512, '_500 more comments: raise max_comments_'],
    [511, 512, '_1 more comment: raise max_comments_'],
    [512, 512, '_More comments: raise max_comments_'],
  ])('that holds %i of %i comments, and could hold more, ends with a hint', (returned, total, hint) => {
    const meta = { comments_returned: returned, comments_total: total, has_more: true };
    expect(renderPostMarkdown(postOf(), meta)).toMatch(new RegExp(`\n\n${hint}\n$`));
    expect(renderPostMarkdown(postOf(), { ...meta, has_more: false })).not.toContain('raise');
  });

  test('renders a thread of 20,000 levels', () => {
    let comment = commentOf('c0', 't1_x', { depth: 20_000 });
    for (let depth = 19_999; depth >= 0; depth--) comment = commentOf('c', 't1_x', { depth, replies: [comment] });
    const markdown = renderPostMarkdown(postOf({ comments: [comment] }), {
      comments_returned: 20_001,
      comments_total: 20_001,
      has_more: false,
    });
    expect(markdown).toContain('t1_c0 (depth 20000, reply to t1_x)');
  });
});
