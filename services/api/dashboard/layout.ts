import type { Response } from 'express';
import type { StoredAccount } from '../../../shared/stores/accounts/accounts.ts';
import { html } from '../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../shared/html/html.ts';
import { document } from '../pages/page.ts';
import type { ShownPage } from './page.ts';

/** What the layout needs besides the page. */
export interface Frame {
  /** The paths of the files of every page. */
  style: string;
  script: string;
  path: (below: string) => string;
  /** Sources of form-action besides this site: where forms lead on to another one, such as the checkout. */
  formTargets: readonly string[];
}

/** Who looks at the page; undefined for a browser without a session. */
export interface Viewer {
  account: StoredAccount;
  csrfField: Html;
  /** The page's path below /dashboard. */
  current: string;
}

const SECTIONS = [
  ['/', 'Overview'],
  ['/monitors', 'Monitors'],
  ['/sql', 'SQL'],
  ['/keys', 'Keys'],
  ['/programs', 'Programs'],
  ['/billing', 'Billing'],
  ['/account', 'Account'],
] as const;

/** Sends a page in the layout, with its security headers. */
export function sendShownPage(response: Response, frame: Frame, page: ShownPage, viewer: Viewer | undefined): void {
  response.set({
    'Content-Security-Policy': policyOf(frame),
    'Referrer-Policy': 'same-origin',
    'Cache-Control': 'no-store',
    'X-Robots-Tag': 'noindex',
  });
  response.status(page.status ?? 200).type('html');
  response.send(String(layout(frame, page, viewer)));
}

function policyOf({ formTargets }: Frame): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    ["form-action 'self'", ...formTargets].join(' '),
    "frame-ancestors 'none'",
  ].join('; ');
}

function layout(frame: Frame, { title, content }: ShownPage, viewer: Viewer | undefined): Html {
  const files = html`<link rel="stylesheet" href="${frame.style}" />
    <script type="module" src="${frame.script}"></script>`;
  const top = html`<a class="skip" href="#content">Skip to the content</a> ${header(frame, viewer)}`;
  return document(title, files, content, top);
}

function header({ path }: Frame, viewer: Viewer | undefined): Html {
  const home = html`<a class="brand" href="${path('')}">Forum monitor</a>`;
  if (viewer === undefined) return html`<header><div class="bar">${home}</div></header>`;
  const { account, csrfField, current } = viewer;
  return html`<header>
    <div class="bar">
      ${home}
      <a class="balance" href="${path('/billing')}"
        ><span class="number">${account.balance.toLocaleString('en')}</span> credits</a
      >
      <form method="post" action="${path('/sign-out')}">
        ${csrfField}<button class="quiet" title="Signed in as ${account.email}">Sign out</button>
      </form>
    </div>
    <nav aria-label="Pages">
      <ul>
        ${SECTIONS.map(([below, name]) => html`<li>${navigationLink(path, { below, name, current })}</li>`)}
      </ul>
    </nav>
  </header>`;
}

function navigationLink(
  path: Frame['path'],
  { below, name, current }: { below: string; name: string; current: string },
): HtmlValue {
  const isCurrent = below === '/' ? current === '/' : current === below || current.startsWith(`${below}/`);
  const mark = isCurrent && html`aria-current="page"`;
  return html`<a href="${path(below === '/' ? '' : below)}" ${mark}>${name}</a>`;
}
