import { expect, test } from 'vitest';
import { inlineLink, inlineText } from '../../../../../../services/api/reading/comments/inline-text.ts';

test.each([
  ['Plain: snake_case, 50% & [D] #1 - ok!', 'Plain: snake_case, 50% & [D] #1 - ok!'],
  ['one\r\n\n# two\u2028three', 'one # two three'],
  ['*a* _b_ `c` ~~d~~', '\\*a\\* \\_b\\_ \\`c\\` \\~\\~d\\~\\~'],
  ['[a](b) ![c][d] [e]', '[a\\](b) ![c\\][d] [e]'],
  ['<b> &lt; a < b', '\\<b> \\&lt; a < b'],
  ['C:\\dir \\* end\\', 'C:\\dir \\\\\\* end\\\\'],
  ['www.x.example<b>', 'www.x.example&lt;b>'],
])('inlineText escapes %j', (text, expected) => {
  expect(inlineText(text)).toBe(expected);
});

test.each([
  ['https://x.example/a_b?c=d&e', '<https://x.example/a_b?c=d&e>'],
  ['https://x.example/a b><c>\n# d', '<https://x.example/a%20b%3E%3Cc%3E%20#%20d>'],
  ['javascript:alert(1)', 'javascript:alert(1)'],
  ['/r/tea/_x_', '/r/tea/\\_x\\_'],
  ['', ''],
])('inlineLink renders %j', (url, expected) => {
  expect(inlineLink(url)).toBe(expected);
});
