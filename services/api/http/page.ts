import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Response } from 'express';
import { html, trustedHtml } from '../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../shared/http/html.ts';

export interface Page {
  text: string;
  contentSecurityPolicy: string;
}

/** The dashboard's style, inline: these pages are also served where the dashboard is not. */
const STYLE = readFileSync(new URL('../dashboard/assets/style.css', import.meta.url), 'utf8');
const STYLE_ELEMENT = trustedHtml(`<style>${STYLE}</style>`);
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** @param referrer `no-referrer` where the address is a secret; otherwise forms send this origin, and to it alone */
export function sendPage(
  response: Response,
  page: Page,
  referrer: 'same-origin' | 'no-referrer' = 'same-origin',
): void {
  response.set({ 'Content-Security-Policy': page.contentSecurityPolicy, 'Referrer-Policy': referrer });
  response.type('html').send(page.text);
}

/** The document of a page. @param style the element that brings the style sheet */
export function document(title: string, style: Html, content: HtmlValue, header?: HtmlValue): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} – Forum monitor</title>
        ${style}
      </head>
      <body>
        ${header}
        <main id="content" tabindex="-1">
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`;
}

/** @param formTargets where its forms may submit to besides this origin, as sources of form-action */
export function pageOf(title: string, content: HtmlValue, formTargets = ''): Page {
  const text = document(title, STYLE_ELEMENT, html`<div class="narrow">${content}</div>`);
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    "base-uri 'none'",
    `form-action 'self' ${formTargets}`.trim(),
    "frame-ancestors 'none'",
  ];
  return { text: String(text), contentSecurityPolicy: policy.join('; ') };
}

export function problem(text: string | undefined): HtmlValue {
  return text !== undefined && html`<p id="problem" role="alert">${text}</p>`;
}
