import { expect, test } from 'vitest';
import { codeMail, linkMail, SIGN_IN, SIGN_UP, wrongCodesMail } from '../../../../../services/api/signup/code-mail.ts';

const APP_URL = 'https://app.example.com:8443/x';

test('the mail with a code has only lines that every mail server accepts unchanged', () => {
  const { subject, text, html } = codeMail('ada@example.com', '012345', APP_URL, SIGN_UP);
  expect(subject).toBe('Your sign-up code');
  expect(text).toContain('app.example.com:8443, and');
  for (const line of `${text}\n${html}`.split('\n')) expect(line).toMatch(/^[\x20-\x7e]{0,76}$/);
});

test('a link is the whole line of its mail, and is a link in HTML', () => {
  const link = 'https://app.example.com/signin#sgn_0123456789';
  const { to, subject, text, html } = linkMail('ada@example.com', link, APP_URL, SIGN_IN);
  expect([to, subject]).toEqual(['ada@example.com', 'Your sign-in link']);
  expect(text.split('\n')).toContain(link);
  expect(html).toContain(`<a href="${link}">${link}</a>`);
});

test('the mail about wrong codes has no code and no link', () => {
  const { text, html } = wrongCodesMail('ada@example.com', APP_URL);
  expect(text).toContain('app.example.com:8443 with your address.');
  expect(`${text}${html}`).not.toMatch(/\d{6}|https?:/);
});
