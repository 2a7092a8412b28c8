import { html } from '../http/html.ts';
import type { Mail } from './mailer.ts';

/** Longer lines are broken by some mail programs. */
const LINE_LENGTH = 76;
const NAME_LENGTH = 60;

/** Mail programs know inline styles only. The colours are those of the pages, and stay readable on dark ground. */
const MAIL_STYLE = 'font: 15px/1.55 Inter, system-ui, sans-serif; max-width: 560px; padding: 8px';
const BRAND_STYLE = 'color: #6b65f0; font-size: 17px; font-weight: 650';

/**
 * Paragraphs with lines that every mail server accepts unchanged. A line that is an address becomes a link, and a line
 * that begins with `- ` an item of a list.
 */
export function plainMail(to: string, subject: string, paragraphs: readonly (readonly string[])[]): Mail {
  const htmlOf = (line: string) => {
    if (line.startsWith('- ')) return html`<br />${line}`;
    if (/^https?:/.test(line)) return html`<a href="${line}">${line}</a>`;
    const [, before, code] = /^(Your code is )(\d+)$/.exec(line) ?? [];
    return code === undefined ? html`${line}` : html`${before}<strong>${code}</strong>`;
  };
  const body = paragraphs.map((lines) => `<p>${lines.map((line) => String(htmlOf(line))).join('\n')}</p>\n`);
  return {
    to,
    subject,
    text: paragraphs.map((lines) => `${lines.join('\n')}\n`).join('\n'),
    html: `<div style="${MAIL_STYLE}">\n<p style="${BRAND_STYLE}">Forum monitor</p>\n${body.join('')}</div>\n`,
  };
}

/** Breaks a text into lines for plainMail, between words. A word that is longer than a line has its own line. */
export function wrapLines(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= LINE_LENGTH) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/**
 * A name that somebody chose, in quotation marks, for a mail: one line, cut, and nothing in it that mail programs would
 * turn into a link, as they do with addresses and host names in plain text.
 */
export function quotedName(name: string): string {
  const plain = name
    .replace(/[\p{C}\p{Z}\s]+/gu, ' ')
    // A blank after a dot, a colon and a slash, and before an at sign, keeps the name readable.
    .replace(/([.:/])(?=[^\s])/g, '$1 ')
    .replace(/@/g, ' @ ')
    .replace(/ +/g, ' ')
    .trim();
  const characters = Array.from(plain);
  const cut = characters.length > NAME_LENGTH ? `${characters.slice(0, NAME_LENGTH).join('').trimEnd()}…` : plain;
  return `“${cut}”`;
}

/** A time as mails name it: `22 November 2026, 20:03 UTC`. */
export function mailTime(at: Date): string {
  const day = at.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
  return `${day}, ${at.toISOString().slice(11, 16)} UTC`;
}
