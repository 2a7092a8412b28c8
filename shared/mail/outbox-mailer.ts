import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { systemClock } from '../runtime/clock.ts';
import type { Clock } from '../runtime/clock.ts';
import { MailError } from './mail-error.ts';
import type { Mailer } from './mailer.ts';
import { toMessage } from './message.ts';

/** How long a mail is kept: longer than what it holds is valid, no longer than matches. */
const KEPT_MS = 30 * 86_400_000;
const TIDY_EVERY_MS = 3_600_000;
const WRITTEN = /^(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3}Z)-[0-9a-f]{12}\.eml$/;

/**
 * Writes mails to files, `<time>-<random>.eml`, sorted by time, for installations without a mail server. Only their
 * owner may read them, because they contain codes. A file appears complete or not at all, and goes after 30 days, when
 * another mail is written.
 */
export function createOutboxMailer(folder: string, from: string, clock: Clock = systemClock): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  let tidyAt = Number.NEGATIVE_INFINITY;
  return {
    async send(mail) {
      const now = clock();
      try {
        const { message } = await transport.sendMail(toMessage(from, mail));
        await writeMailFile(folder, message as Buffer, now);
      } catch {
        throw new MailError('outbox');
      }
      if (now < tidyAt) return;
      tidyAt = now + TIDY_EVERY_MS;
      // Without rights, or beside another process that does the same: the next mail tries again.
      await removeOlderThan(folder, now - KEPT_MS).catch(() => undefined);
    },
  };
}

async function removeOlderThan(folder: string, time: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, day, hour, minute, rest] = WRITTEN.exec(name) ?? [];
    if (Date.parse(`${day}${hour}:${minute}:${rest}`) < time) await rm(join(folder, name), { force: true });
  }
}

async function writeMailFile(folder: string, message: Buffer, now: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // An existing folder may be readable by others.
  await chmod(folder, 0o700);
  const name = `${new Date(now).toISOString().replaceAll(':', '-')}-${randomBytes(6).toString('hex')}`;
  const draft = join(folder, `.${name}.draft`);
  try {
    await writeFile(draft, message, { mode: 0o600, flag: 'wx' });
    await rename(draft, join(folder, `${name}.eml`));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
