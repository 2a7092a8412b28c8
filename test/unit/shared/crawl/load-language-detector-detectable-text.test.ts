import { expect, test } from 'vitest';
import { detectableText } from '../../../../shared/crawl/load-language-detector.ts';

const words = (...texts: string[]) => detectableText(texts).split(/\s+/).join(' ');

test.each([
  { name: 'the texts in their order', given: ['A title', 'and a text'], expected: 'A title and a text' },
  { name: 'no quotations', given: ['> They wrote this.\n&gt; And this.\n\nMy answer'], expected: 'My answer' },
  { name: 'no fenced code', given: ['See:\n```ts\nconst a = b;\n\n```\nIt works'], expected: 'See: It works' },
  { name: 'no indented code', given: ['See:\n\n    const a = b;\n\tlet c;\nIt works'], expected: 'See: It works' },
  { name: 'no inline code', given: ['Call `list.sort()` twice'], expected: 'Call twice' },
  {
    name: 'no addresses',
    given: ['See https://example.org/a-b?c=d, www.example.org and this'],
    expected: 'See and this',
  },
  {
    name: 'the text of a link',
    given: ['Read [the manual](https://example.org/x) first'],
    expected: 'Read [the manual]( ) first',
  },
  { name: 'no names of the forum', given: ['Ask r/learn_rust, /r/rust or u/some-one here'], expected: 'Ask , or here' },
  { name: 'words with a slash before the letter', given: ['and/or your/user'], expected: 'and/or your/user' },
  {
    name: 'no mail addresses, numbers and identifiers',
    given: ['Mail me@example.org 2nd foo_bar v1.2 soon'],
    expected: 'Mail .org . soon',
  },
  {
    name: 'code that is not closed in one text does not hide the next',
    given: ['```\ncode', 'a text'],
    expected: 'a text',
  },
])('keeps $name', ({ given, expected }) => {
  expect(words(...given)).toBe(expected);
});

test('reads no more than it needs', () => {
  const line = 'all work and no play makes a dull text\n';
  expect(detectableText([line.repeat(10_000)]).length).toBeLessThan(700);
  expect(detectableText(['ab '.repeat(100_000)]).length).toBeLessThan(2_100);
});
