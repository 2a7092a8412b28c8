import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A time as UTC text; the script adds the reader's own time to it as a tooltip. */
export function time(at: Date | string): Html {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** How long ago something was, roughly: "3 min ago". */
export function ago(at: Date | string, now: number): Html {
  const iso = new Date(at).toISOString();
  const seconds = Math.max(0, Math.round((now - Date.parse(iso)) / 1000));
  return html`<time datetime="${iso}">${durationInWords(seconds)} ago</time>`;
}

/** The largest unit that fits: "45 s", "3 min", "5 h", "12 days". */
export function durationInWords(seconds: number): string {
  if (seconds < MINUTE) return `${Math.round(seconds)} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)} h`;
  return `${Math.floor(seconds / DAY)} days`;
}
