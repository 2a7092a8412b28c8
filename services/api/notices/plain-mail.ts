import type { Mail } from '../../../shared/mail/mailer.ts';
import { html, trustedHtml } from '../pages/html.ts';

/** Paragraphs with lines that every mail server accepts unchanged; a line that is an address becomes a link. */
export function plainMail(to: string, subject: string, paragraphs: readonly (readonly string[])[]): Mail {
  const htmlOf = (line: string) => {
    if (/^https?:/.test(line)) return html`<a href="${line}">${line}</a>`;
    const [, before, code] = /^(Your code is )(\d+)$/.exec(line) ?? [];
    return code === undefined ? html`${line}` : html`${before}<strong>${code}</strong>`;
  };
  return {
    to,
    subject,
    text: paragraphs.map((lines) => `${lines.join('\n')}\n`).join('\n'),
    html: paragraphs
      .map((lines) => `${String(html`<p>${trustedHtml(lines.map((line) => String(htmlOf(line))).join('\n'))}</p>`)}\n`)
      .join(''),
  };
}
