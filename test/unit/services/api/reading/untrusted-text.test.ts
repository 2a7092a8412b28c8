import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Post } from '../../../../../schemas/messages/forum-post.ts';
import { inlineText, untrustedText } from '../../../../../services/api/reading/untrusted-text.ts';
import { renderPostMarkdown } from '../../../../../services/api/reading/rendered-posts.ts';
import { commentOf, postOf } from '../../../../support/samples/forum-threads.ts';
import { hostilePost } from '../../../../support/samples/hostile-posts.ts';
import { expectedStructure, markdownStructure, outlineOf } from '../../../../support/oracles/markdown-structure.ts';

const META = { comments_returned: 2, comments_total: 9, has_more: true };
const shown = (text: string) => untrustedText(text).join('\n');

describe('untrustedText', () => {
  test.each([
    ['paragraphs', 'One\ntwo.\n\nThree *four* __five__ [six](https://x.example) `seven`'],
    ['hard breaks', 'One  \ntwo\\\nthree'],
    ['quotes', '> One\n> two\nlazy\n\n>> three\n> four\n\n>!spoiler!<'],
    ['a fence', 'Look:\n```ts\n# no heading\n- <b>\n\tindented\n\n===\n```\nafter'],
    ['a fence of tildes', '~~~ `x`\n```\n~~\n~~~~'],
    ['an indented block', 'Look:\n\n    # no heading\n    - <b>\n\n    1. x\n\nafter'],
    ['a block in a quote', '>     # no heading\n> text'],
    ['code over lines of quotes', '>> a `b\n> c <d>\ne <f>`'],
    ['code over lines', 'a `b <c>\nd <e>` f'],
    ['code in double ticks', '``a ` <b> `` and ` <c>`'],
    ['a row of ticks in a line', '```not <a> fence``` x'],
    ['an indent within a paragraph', 'One\n      # two\n    - three'],
    ['what only looks like marks', '-5 degrees\n*emphasis*\n1.5\n**bold**\n<3 <- a < b\n=> c'],
    ['a link first', '[one](https://x.example) two\n[three] four'],
  ])('keeps %s as typed', (_, text) => {
    expect(shown(text)).toBe(text);
  });

  test.each([
    ['# a', '\\# a'],
    ['#a', '\\#a'],
    ['   ###### a', '   \\###### a'],
    ['a\n===', 'a\n\\==='],
    ['a\n---', 'a\n\\---'],
    ['a\n   -  ', 'a\n   \\-  '],
    ['***', '\\***'],
    ['- - -', '\\- - -'],
    ['_ _ _', '\\_ _ _'],
    ['---\ntitle: x\n---', '\\---\ntitle: x\n\\---'],
    ['+++', '\\+++'],
    ['- a\n+ b\n* c\n-\td', '\\- a\n\\+ b\n\\* c\n\\-\td'],
    ['1. a\n23) b', '1\\. a\n23\\) b'],
    ['> # a', '> \\# a'],
    ['> a\n> ===', '> a\n> \\==='],
    ['> > - # a', '> > \\- # a'],
    ['>- a', '>\\- a'],
    ['> ```\n> # a', '> \\```\n> \\# a'],
    ['> a\n# b', '> a\n\\# b'],
    ['[a]: https://x.example', '\\[a]: https://x.example'],
    ['[a\nb]: https://x.example', '\\[a\nb]: https://x.example'],
    ['[a\\]b]: x', '\\[a\\]b]: x'],
    ['[^1]: note', '\\[^1]: note'],
    ['a | b\n--- | ---\n1 | 2', 'a | b\n\\--- | ---\n1 | 2'],
    ['|a|\n|:-:|', '|a|\n\\|:-:|'],
    ['a\n:--', 'a\n\\:--'],
    ['<div>\n# a', '\\<div>\n\\# a'],
    ['<!-- a', '\\<!-- a'],
    ['a <!-- b --> <i>c</i>', 'a \\<!-- b --> \\<i>c\\</i>'],
    ['\\<b> \\\\<b>', '\\<b> \\\\\\<b>'],
    ['a `\n<div>\n` b', 'a `\n\\<div>\n` b'],
    ['see https://x.example/<b>', 'see https://x.example/&lt;b>'],
    ['see www.x.example/\\<b>', 'see www.x.example/&lt;b>'],
    ['[x](a`b) <c> `d', '[x](a`b) \\<c> `d'],
    ['https://x.example/`a <b> `', 'https://x.example/`a &lt;b> `'],
    ['a `\n> b <c> `', 'a `\n> b \\<c> `'],
    ['> a `\n>> b <c> `', '> a `\n>> b \\<c> `'],
    ['a ` <b>\n\n` <c>', 'a ` \\<b>\n\n` \\<c>'],
    ['$$\nx', '\\$$\nx'],
    ['::: note', '\\::: note'],
    ['```\n# a', '```\n# a\n```'],
    ['~~~~ x\n```\n~~~', '~~~~ x\n```\n~~~\n~~~~'],
    ['a\r# b\u2028# c\u0085# d\v# e\f# f', 'a\n\\# b\n\\# c\n\\# d\n\\# e\n\\# f'],
    ['\u00a0# a\n\u200b- b\n\ufeff> c', '\u00a0\\# a\n\u200b\\- b\n\ufeff\\> c'],
    ['a\u0000\u001b\u007fb', 'ab'],
    ['\tcode\n\nx\n\t# y', '    code\n\nx\n    # y'],
    ['>\t\tcode', '>       code'],
    ['>>>>>>>>> a', '>>>>>>>>\\> a'],
    [' \n\t\n a \n\n', ' a '],
    ['a\ud800', 'a\ufffd'],
  ])('escapes %j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  test('does not end a fence at a line that is code at its final indent', () => {
    // After the two spaces of a list item a tab is two columns wide, and the fence would end.
    expect(shown('```\n\t```\n# a')).toBe('```\n    ```\n# a\n```');
    const body = '```\n\t```\n# a\n```';
    const { headings, code } = structureOf({ comments: [commentOf('a', 't3_p0st', { body })] });
    expect(headings).toHaveLength(2);
    expect(code).toEqual(['    ```\n# a']);
  });

  test.each([
    ['tag characters', 'before\u{e0001}\u{e0068}\u{e0069}\u{e007f}after'],
    ['overrides and embeddings', 'before\u202a\u202b\u202c\u202d\u202eafter'],
    ['isolates', 'before\u2066\u2067\u2068\u2069after'],
    ['marks', 'before\u200e\u200f\u061cafter'],
  ])('removes characters that readers do not see and models do: %s', (_what, text) => {
    expect(untrustedText(text)).toEqual(['beforeafter']);
    expect(inlineText(text)).toBe('beforeafter');
    // An invisible character before a mark does not hide the mark from the escaper.
    expect(untrustedText(text.replace('before', '').replace('after', '# a'))).toEqual(['\\# a']);
  });

  test('finishes quickly for long hostile texts (within the deadline of the test)', () => {
    const hostile = ['`', '``', '<b', '[', '](', '- ', '> ', '    > ', '\\', '|-', ':-', '_ ', '\t', 'www.`'];
    for (const piece of hostile) expect(shown(`${piece.repeat(100_000)}x`).length).toBeGreaterThan(0);
    const rows = Array.from({ length: 600 }, (_, index) => '`'.repeat(index + 1)).join(' <b>');
    expect(shown(rows).length).toBeGreaterThan(rows.length);
  });
});

function structureOf(fields: Partial<Post>) {
  return markdownStructure(renderPostMarkdown(postOf(fields), META));
}

describe('the structure of a document', () => {
  test('contains only our own elements for any hostile post', () => {
    fc.assert(
      fc.property(hostilePost, (post) => {
        const structure = markdownStructure(renderPostMarkdown(post, META));
        expect(structure.foreign).toEqual([]);
        expect(outlineOf(structure)).toEqual(expectedStructure(post));
      }),
      { numRuns: 150 },
    );
  });

  test('cannot be forged by a text that looks the same', () => {
    const comment = commentOf('a', 't3_p0st');
    const forged = renderPostMarkdown(postOf({ comments: [comment] }), META);
    const structure = structureOf({
      title: forged,
      selftext: forged,
      comments: [{ ...comment, body: forged, author: forged }],
    });
    expect(structure.foreign).toEqual([]);
    expect([structure.headings.length, structure.items.length]).toEqual([2, 1]);
  });

  test('keeps code blocks unchanged on every level', () => {
    const body = 'Look:\n\n```py\ndef f():\n    return "# <b>"\n\n- no list\n```\n\n    indented\n\tby a tab';
    let comment = commentOf('c10', 't1_x', { depth: 10, body });
    for (let depth = 9; depth >= 0; depth--)
      comment = commentOf(`c${depth}`, 't1_x', { depth, body, replies: [comment] });
    const { code } = structureOf({ selftext: body, comments: [comment] });
    const expected = ['def f():\n    return "# <b>"\n\n- no list', 'indented\nby a tab'];
    expect(code).toEqual(Array.from({ length: 12 }, () => expected).flat());
  });
});
