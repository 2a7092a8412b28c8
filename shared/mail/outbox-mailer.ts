import { randomBytes } from 'node:crypto';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { MailError } from './mail-error.ts';
import type { Mailer } from './mailer.ts';
import { toMessage } from './message.ts';

/**
 * Writes mails to files, `<time>-<random>.eml`, sorted by time, for installations without a mail server. Only their
 * owner may read them, because they contain codes. A file appears complete or not at all.
 */
export function createOutboxMailer(folder: string, from: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    async send(mail) {
      try {
        const { message } = await transport.sendMail(toMessage(from, mail));
        await writeMailFile(folder, message as Buffer);
      } catch {
        throw new MailError('outbox');
      }
    },
  };
}

async function writeMailFile(folder: string, message: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // An existing folder may be readable by others.
  await chmod(folder, 0o700);
  const name = `${new Date().toISOString().replaceAll(':', '-')}-${randomBytes(6).toString('hex')}`;
  const draft = join(folder, `.${name}.draft`);
  try {
    await writeFile(draft, message, { mode: 0o600, flag: 'wx' });
    await rename(draft, join(folder, `${name}.eml`));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
