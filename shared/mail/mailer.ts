/** A mail to one recipient. */
export interface Mail {
  /** An address as parseEmailAddress returns it. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** The page on which the recipient ends mails of this kind, for the button of mail programs. */
  unsubscribeUrl?: string;
}

export interface Mailer {
  /**
   * Resolves when the mail server accepted the mail, or the mail is in the outbox.
   *
   * @throws MailError when the mail was not accepted, or not in time; in the latter case it may still be delivered
   */
  send(mail: Mail): Promise<void>;
}
