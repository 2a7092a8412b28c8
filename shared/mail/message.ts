import type { Mail } from './mailer.ts';

/**
 * Converts a mail for nodemailer. The recipient is passed in parts, so that no part of it is parsed as a name or a
 * list.
 */
export function toMessage(from: string, { to, subject, text, html, unsubscribeUrl }: Mail): object {
  return {
    from,
    to: { name: '', address: to },
    subject,
    text,
    html,
    // RFC 3834: asks receivers not to reply automatically.
    headers: {
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribeUrl !== undefined && { 'List-Unsubscribe': `<${unsubscribeUrl}>` }),
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
