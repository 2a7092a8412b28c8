import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseEmailAddress } from '../../../../shared/accounts/rules/mailbox.ts';
import { createMailer } from '../../../../shared/mail/mailer.ts';
import { startSmtpReceiver } from '../../../support/fakes/smtp-receiver.ts';
import type { SmtpReceiver } from '../../../support/fakes/smtp-receiver.ts';
import { politely, startScriptedSmtp } from '../../../support/fakes/smtp-script.ts';
import type { ScriptedSmtp } from '../../../support/fakes/smtp-script.ts';

let server: ScriptedSmtp;
let receiver: SmtpReceiver;
beforeAll(async () => {
  server = await startScriptedSmtp(politely);
  receiver = await startSmtpReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await server.stop();
});

const FROM = 'Forum <no-reply@example.com>';
const mailTo = (to: string) => ({ to, subject: 'A subject', text: 'A text', html: '<p>A text</p>' });

const atom = fc.string({
  unit: fc.constantFrom(...Array.from("abcXYZ019!#$%&'*+-/=?^_`{|}~")),
  minLength: 1,
  maxLength: 12,
});
const local = fc.array(atom, { minLength: 1, maxLength: 4 }).map((atoms) => atoms.join('.'));
const label = fc.stringMatching(/^[a-z0-9ü]{1,10}$/);
const address = fc
  .tuple(local, fc.array(label, { minLength: 1, maxLength: 4 }), fc.constantFrom('com', 'example', 'xn--p1ai'))
  .map(([name, labels, last]) => parseEmailAddress(`${name}@${labels.join('.')}.${last}`)?.address)
  .filter((parsed) => parsed !== undefined);

test('sends an accepted address unchanged in one RCPT TO', async () => {
  const mailer = createMailer({ smtpUrl: server.url, from: FROM, outbox: '' });
  await fc.assert(
    fc.asyncProperty(address, async (to) => {
      server.lines.length = 0;
      await mailer.send(mailTo(to));
      const verbs = server.lines.map((line) => line.split(' ')[0]);
      expect(verbs.slice(0, 5)).toEqual(['EHLO', 'MAIL', 'RCPT', 'DATA', '.']);
      expect(server.lines.slice(1, 3)).toEqual(['MAIL FROM:<no-reply@example.com>', `RCPT TO:<${to}>`]);
    }),
    { numRuns: 300 },
  );
});

test.each([
  "!#$%&'*+/=?^_`{|}~-@example.com",
  'a.b+c@xn--bcher-kva.example',
  `${'x'.repeat(64)}@${'y'.repeat(63)}.${'z'.repeat(63)}.example`,
])('%s is the only recipient in the header', async (to) => {
  await createMailer({ smtpUrl: receiver.url, from: FROM, outbox: '' }).send(mailTo(to));
  const mail = receiver.mailTo(to);
  expect(mail.recipients).toEqual([to]);
  expect(mail.headers.get('to')).toEqual([to]);
  for (const name of ['from', 'subject', 'date', 'message-id']) expect(mail.headers.get(name), name).toHaveLength(1);
  expect([mail.headers.get('cc'), mail.headers.get('bcc')]).toEqual([undefined, undefined]);
});
