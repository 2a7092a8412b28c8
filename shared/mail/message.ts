import type { Mail } from './mailer.ts';

/**
 * A mail as nodemailer takes it. The recipient is given in parts, so that nothing in it is read as a name or a list.
 */
export function messageOf(from: string, { to, subject, text, html }: Mail): object {
  return {
    from,
    to: { name: '', address: to },
    subject,
    text,
    html,
    // RFC 3834: no automatic answers, please.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
