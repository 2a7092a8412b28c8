import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Response } from 'express';
import { html, trustedHtml } from './html.ts';
import type { Html, HtmlValue } from './html.ts';

export interface Page {
  text: string;
  contentSecurityPolicy: string;
}

const look = (name: string): string => readFileSync(join(import.meta.dirname, 'look', name), 'utf8');

/** The style that all pages share: the design's values, then the elements. */
export const SHARED_STYLE = ['tokens.css', 'style.css'].map(look).join('\n');

/** Inline: these pages are also served where the dashboard is not. They do without the font. */
const STYLE_ELEMENT = trustedHtml(`<style>${SHARED_STYLE}</style>`);
const STYLE_HASH = createHash('sha256').update(SHARED_STYLE).digest('base64');
/** SVG. */
export const MARK = look('mark.svg').trim();

/** @param referrer `no-referrer` where the address is a secret; otherwise forms send this origin, and to it alone */
export function sendPage(
  response: Response,
  page: Page,
  referrer: 'same-origin' | 'no-referrer' = 'same-origin',
): void {
  response.set({ 'Content-Security-Policy': page.contentSecurityPolicy, 'Referrer-Policy': referrer });
  response.type('html').send(page.text);
}

/** The mark and the name. @param href where they lead; a text without a link by default */
export function brand(href?: string): Html {
  const content = html`${trustedHtml(MARK)} Forum monitor`;
  return href === undefined
    ? html`<span class="brand">${content}</span>`
    : html`<a class="brand" href="${href}">${content}</a>`;
}

interface Document {
  title: string;
  /** The element that brings the style sheet, and others of the head. */
  head: Html;
  /** `app`: with the navigation at the side. `single`: a page with one thing to do. */
  layout: 'app' | 'single' | 'text';
  header: HtmlValue;
  /** In place of the title as a heading. */
  heading?: HtmlValue;
  content: HtmlValue;
}

/** A whole page. */
export function document({ title, head, layout, header, heading, content }: Document): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} – Forum monitor</title>
        ${head}
      </head>
      <body class="${layout}">
        ${header}
        <main id="content" tabindex="-1">
          ${heading ?? html`<div class="title"><h1>${title}</h1></div>`} ${content}
        </main>
      </body>
    </html>`;
}

/** @param formTargets where its forms may submit to besides this origin, as sources of form-action */
export function pageOf(title: string, content: HtmlValue, formTargets = ''): Page {
  const header = html`<header class="top"><div class="bar">${brand()}</div></header>`;
  const text = document({ title, head: STYLE_ELEMENT, layout: 'single', header, content });
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
