import { expect, test } from 'vitest';
import { plainMail, wrapLines } from '../../../../shared/mail/plain-mail.ts';

test('paragraphs are escaped; lines that are addresses become links, and lines with a dash items of a list', () => {
  const mail = plainMail('ada@example.com', 'Subject', [
    ['These <two>:', '- “a & b”', '- c'],
    ['https://app.example.com/x?a=1&b=2'],
    ['Not a link: https://app.example.com'],
    ['Your code is 012345'],
  ]);
  expect(mail).toEqual({
    to: 'ada@example.com',
    subject: 'Subject',
    text: [
      'These <two>:\n- “a & b”\n- c\n',
      'https://app.example.com/x?a=1&b=2\n',
      'Not a link: https://app.example.com\n',
      'Your code is 012345\n',
    ].join('\n'),
    html: expect.stringContaining(
      [
        '<p>These &lt;two&gt;:\n<br />- “a &amp; b”\n<br />- c</p>\n',
        '<p><a href="https://app.example.com/x?a=1&amp;b=2">https://app.example.com/x?a=1&amp;b=2</a></p>\n',
        '<p>Not a link: https://app.example.com</p>\n',
        '<p>Your code is <strong>012345</strong></p>\n',
      ].join(''),
    ) as string,
  });
});

test.each([
  ['short', ['short']],
  [`${'a '.repeat(38)}b`, [Array(38).fill('a').join(' '), 'b']],
  [`${'x'.repeat(80)} y`, ['x'.repeat(80), 'y']],
  [`a ${'x'.repeat(80)}`, ['a', 'x'.repeat(80)]],
])('%j is broken into %j', (text, lines) => {
  expect(wrapLines(text)).toEqual(lines);
});
