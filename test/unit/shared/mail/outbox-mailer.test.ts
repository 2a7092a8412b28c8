import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createOutboxMailer } from '../../../../shared/mail/outbox-mailer.ts';
import { plainMail } from '../../../../shared/mail/plain-mail.ts';

const folder = mkdtempSync(join(tmpdir(), 'forum-test-outbox-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a mail goes after 30 days, when another one is written; other files stay', async () => {
  const time = { now: Date.parse('2026-03-04T12:00:00Z') };
  const mailer = createOutboxMailer(folder, 'a@example.com', () => time.now);
  const send = () => mailer.send(plainMail('ada@example.com', 'Subject', [['Text']]));
  const days = () =>
    readdirSync(folder)
      .sort()
      .map((name) => name.slice(0, 10));
  await send();
  writeFileSync(join(folder, '2020-notes.eml'), '');
  time.now += 29 * 86_400_000;
  await send();
  expect(days()).toEqual(['2020-notes', '2026-03-04', '2026-04-02']);
  time.now += 86_400_000 + 1;
  await send();
  expect(days()).toEqual(['2020-notes', '2026-04-02', '2026-04-03']);
});
