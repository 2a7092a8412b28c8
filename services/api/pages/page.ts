import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { html, trustedHtml } from '../../../shared/html/html.ts';
import type { HtmlValue } from '../../../shared/html/html.ts';

/** A page, and where its forms may submit to. */
export interface Page {
  text: string;
  contentSecurityPolicy: string;
}

const STYLE = `
:root { color-scheme: light dark; font: 100%/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 30rem; padding: 1.5rem 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; line-height: 1.25; }
label { display: block; font-weight: 600; margin-top: 1rem; }
input, button { box-sizing: border-box; font: inherit; min-height: 2.75rem; padding: 0.5rem 0.75rem; width: 100%; }
input { border: 1px solid GrayText; border-radius: 0.25rem; margin-top: 0.25rem; }
button { border: 1px solid; border-radius: 0.25rem; cursor: pointer; font-weight: 600; margin-top: 1rem; }
:focus-visible { outline: 3px solid; outline-offset: 2px; }
[role='alert'] { border-inline-start: 0.25rem solid; font-weight: 600; padding-inline-start: 0.75rem; }
.note { font-size: 0.9rem; }
`;
const STYLE_ELEMENT = trustedHtml(`<style>${STYLE}</style>`);
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * Sends a page with its security headers.
 *
 * @param referrer whether forms send this origin, and no other, as their origin; `no-referrer` where the address itself
 * is a secret
 */
export function sendPage(
  response: Response,
  page: Page,
  referrer: 'same-origin' | 'no-referrer' = 'same-origin',
): void {
  response.set({ 'Content-Security-Policy': page.contentSecurityPolicy, 'Referrer-Policy': referrer });
  response.type('html').send(page.text);
}

/**
 * A whole page.
 *
 * @param formTargets where its forms may submit to besides this origin, as sources of form-action
 */
export function pageOf(title: string, content: HtmlValue, formTargets = ''): Page {
  const text = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} – Forum monitor</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`;
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    "base-uri 'none'",
    `form-action 'self' ${formTargets}`.trim(),
    "frame-ancestors 'none'",
  ];
  return { text: String(text), contentSecurityPolicy: policy.join('; ') };
}

/** An alert with what went wrong; nothing without a problem. */
export function problem(text: string | undefined): HtmlValue {
  return text !== undefined && html`<p id="problem" role="alert">${text}</p>`;
}
