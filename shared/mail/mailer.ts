/** A mail to one recipient. */
export interface Mail {
  /** An address as parseEmailAddress gives it. */
  to: string;
  subject: string;
  text: string;
  html: string;
}

export interface Mailer {
  /**
   * Resolves when the mail server has taken the mail over, or the mail is in the outbox.
   *
   * @throws MailError when it has not, or did not say so in time; it may have been sent all the same in the latter case
   */
  send(mail: Mail): Promise<void>;
}
