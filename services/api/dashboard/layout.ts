import type { Response } from 'express';
import type { StoredAccount } from '../../../shared/accounts/accounts.ts';
import { html } from '../../../shared/http/html.ts';
import type { Html } from '../../../shared/http/html.ts';
import { document } from '../http/page.ts';
import type { ShownPage } from './page.ts';

export interface Frame {
  style: string;
  script: string;
  path: (below: string) => string;
  /** The address of the documentation, without a trailing slash. */
  docs: string;
  /** Sources of form-action besides this site: those that forms lead to, such as the checkout. */
  formTargets: readonly string[];
}

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
  ['/programs', 'Apps'],
  ['/billing', 'Billing'],
  ['/account', 'Account'],
] as const;

/** The guide of a page, by the page's path; the first that fits. */
const GUIDES: readonly [pattern: RegExp, slug: string][] = [
  [/^\/monitors\/(?:new$|[^/]+\/edit)/, 'guide/rules'],
  [/^\/monitors\/[^/]+\/(?:explain|matches)/, 'guide/rules#why-something-matched-or-did-not'],
  [/^\/monitors\/[^/]+\/(?:webhook|deliveries)/, 'guide/webhooks'],
  [/^\/monitors\/[^/]+\/(?:trends|earlier|export)/, 'guide/matches'],
  [/^\/sql/, 'guide/sql'],
  [/^\/keys/, 'guide/credits#keys'],
  [/^\/programs/, 'guide/agents'],
  [/^\/billing/, 'guide/credits'],
  [/^\/account/, 'guide/credits#notices-by-mail'],
  [/^/, 'guide/first-monitor'],
];

export function sendShownPage(response: Response, frame: Frame, page: ShownPage, viewer: Viewer | undefined): void {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    ["form-action 'self'", ...frame.formTargets].join(' '),
    "frame-ancestors 'none'",
  ];
  response.set({
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': 'same-origin',
    'Cache-Control': 'no-store',
    'X-Robots-Tag': 'noindex',
  });
  const files = html`<link rel="stylesheet" href="${frame.style}" />
    <script type="module" src="${frame.script}"></script>`;
  const top = html`<a class="skip" href="#content">Skip to the content</a> ${header(frame, viewer)}`;
  response.status(page.status ?? 200).type('html');
  response.send(String(document(page.title, files, page.content, top)));
}

function header({ path, docs }: Frame, viewer: Viewer | undefined): Html {
  const home = html`<a class="brand" href="${path('')}">Forum monitor</a>`;
  if (viewer === undefined) {
    return html`<header>
      <div class="bar">${home} <a href="${docs}">Documentation</a></div>
    </header>`;
  }
  const { account, csrfField, current } = viewer;
  const guide = GUIDES.find(([pattern]) => pattern.test(current))![1];
  const links = SECTIONS.map(([below, name]) => {
    const isCurrent = current === below || (below !== '/' && current.startsWith(`${below}/`));
    return html`<li>
      <a href="${path(below === '/' ? '' : below)}" ${isCurrent && html`aria-current="page"`}>${name}</a>
    </li>`;
  });
  return html`<header>
    <div class="bar">
      ${home}
      <a href="${docs}/${guide}">Guide</a>
      <a class="balance" href="${path('/billing')}"
        ><span class="number">${account.balance.toLocaleString('en')}</span> credits</a
      >
      <form method="post" action="${path('/sign-out')}">
        ${csrfField}<button class="quiet" title="Signed in as ${account.email}">Sign out</button>
      </form>
    </div>
    <nav aria-label="Pages">
      <ul>
        ${links}
      </ul>
    </nav>
  </header>`;
}
