import type { Mailer } from '../../../shared/mail/mailer.ts';

/** A mailer for tests in which nothing is mailed. */
export function unusedMailer(): Mailer {
  return {
    send({ subject }) {
      return Promise.reject(new Error(`a mail was not expected: ${subject}`));
    },
  };
}
