import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createMailer } from '../../../../shared/mail/mailer.ts';
import { plainMail } from '../../../../shared/mail/plain-mail.ts';

const folder = mkdtempSync(join(tmpdir(), 'forum-test-outbox-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a mail goes after 30 days, when another one is written; other files stay', async () => {
  const nameOf = (days: number) =>
    `${new Date(Date.now() - days * 86_400_000).toISOString().replaceAll(':', '-')}-0123456789ab.eml`;
  const [old, young, other] = [nameOf(30.01), nameOf(29.99), '2020-notes.eml'];
  for (const name of [old, young, other]) writeFileSync(join(folder, name), '');
  const mailer = createMailer({ smtpUrl: undefined, from: 'a@example.com', outbox: folder });
  await mailer.send(plainMail('ada@example.com', 'Subject', [['Text']]));
  const left = readdirSync(folder);
  expect(left).toHaveLength(3);
  expect(left).toEqual(expect.arrayContaining([young, other]));
});
