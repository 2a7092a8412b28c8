import type { Response } from 'express';
import type { StoredAccount } from '../../../shared/accounts/accounts.ts';
import { html } from '../../../shared/http/html.ts';
import type { Html } from '../../../shared/http/html.ts';
import { brand, document } from '../../../shared/http/page.ts';
import type { ShownPage } from './page.ts';
import { icon } from './parts.ts';
import type { IconName } from './parts.ts';

export interface Frame {
  style: string;
  icon: string;
  scripts: readonly string[];
  /** The font of most texts, which a page needs at once. */
  font: string;
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

const WORK = [
  ['/', 'Overview', 'home'],
  ['/monitors', 'Monitors', 'signal'],
  ['/deliveries', 'Deliveries', 'paper-airplane'],
  ['/sql', 'SQL', 'command-line'],
  ['/usage', 'Usage', 'chart-bar'],
] as const;
const SETTINGS = [
  ['/keys', 'API keys', 'key'],
  ['/programs', 'Connected apps', 'puzzle-piece'],
  ['/billing', 'Billing', 'credit-card'],
  ['/account', 'Account', 'user-circle'],
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
    "font-src 'self'",
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
  const head = html`<link rel="icon" type="image/svg+xml" href="${frame.icon}" />
    <link rel="preload" href="${frame.font}" as="font" type="font/woff2" crossorigin />
    <link rel="stylesheet" href="${frame.style}" />
    ${frame.scripts.map((script) => html`<script type="module" src="${script}"></script>`)}`;
  const { title, heading, content } = page;
  const header = html`<a class="skip" href="#content">Skip to the content</a>
    ${viewer === undefined ? publicHeader(frame) : navigation(frame, viewer)}`;
  response.status(page.status ?? 200).type('html');
  response.send(
    String(document({ title, head, layout: viewer === undefined ? 'single' : 'app', header, heading, content })),
  );
}

function publicHeader({ path }: Frame): Html {
  return html`<header class="top"><div class="bar">${brand(path(''))}</div></header>`;
}

/** At the side of wide screens; on narrow ones, a menu that needs no script. */
function navigation({ path, docs }: Frame, { account, csrfField, current }: Viewer): Html {
  const guide = GUIDES.find(([pattern]) => pattern.test(current))![1];
  const link = ([below, name, symbol]: readonly [string, string, IconName]) => {
    const isCurrent = current === below || (below !== '/' && current.startsWith(`${below}/`));
    const href = path(below === '/' ? '' : below);
    return html`<li><a href="${href}" ${isCurrent && html`aria-current="page"`}>${icon(symbol)} ${name}</a></li>`;
  };
  return html`<header class="side">
    <div class="bar">
      ${brand(path(''))}
      <a class="balance" href="${path('/billing')}"
        ><span class="number">${account.balance.toLocaleString('en')}</span> credits</a
      >
      <button type="button" class="quiet menu" popovertarget="pages" aria-label="Menu">${icon('bars-3')}</button>
    </div>
    <div class="pages" id="pages" popover>
      <nav aria-label="Pages">
        <ul>
          ${WORK.map(link)}
        </ul>
        <ul>
          ${SETTINGS.map(link)}
          <li><a href="${docs}/${guide}">${icon('book-open')} Docs</a></li>
          ${link(['/status', 'Status', 'check-circle'])}
        </ul>
      </nav>
      <div class="person">
        Signed in as ${account.email}
        <form method="post" action="${path('/sign-out')}">${csrfField}<button class="quiet">Sign out</button></form>
      </div>
    </div>
  </header>`;
}
