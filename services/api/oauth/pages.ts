import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { html, Html, NO_HTML } from './html.ts';

/** A page, and where its forms may lead. */
export interface Page {
  text: string;
  contentSecurityPolicy: string;
}

/** What asks to be let in, as it says itself. */
export interface AskingClient {
  /** undefined: it gave none. */
  name: string | undefined;
  /** The host of the document that describes it; undefined: it registered by itself, and could be anybody. */
  host: string | undefined;
  redirectUri: string;
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
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** With what protects it. */
export function sendPage(response: Response, page: Page): void {
  response.set({
    'Content-Security-Policy': page.contentSecurityPolicy,
    // Forms tell this origin, and no other, where they were.
    'Referrer-Policy': 'same-origin',
  });
  response.type('html').send(page.text);
}

/** Asks for the address that a code goes to. @param given what was given already, with its problem */
export function addressPage(at: string, client: AskingClient, problem?: string, given = ''): Page {
  return pageOf(
    'Sign in',
    html`<p>${nameOf(client)} asks to use your account.</p>
      ${alert(problem)}
      <form method="post" action="${at}/address">
        <label for="email">E-mail address</label>
        <input
          id="email"
          name="email"
          type="email"
          autocomplete="email"
          maxlength="254"
          value="${given}"
          ${faulty(problem)}
          required
          autofocus
        />
        <button>Send me a code</button>
      </form>
      <p class="note">Without an account you get a free one.</p>`,
  );
}

/** Asks for the code that was mailed. */
export function codePage(at: string, email: string, problem?: string): Page {
  return pageOf(
    'Enter the code',
    html`<p>A code of 6 digits was mailed to <strong>${email}</strong>. It is valid for 10 minutes.</p>
      ${alert(problem)}
      <form method="post" action="${at}/code">
        <label for="code">Code</label>
        <input
          id="code"
          name="code"
          inputmode="numeric"
          autocomplete="one-time-code"
          pattern="[0-9 ]{6,9}"
          maxlength="9"
          ${faulty(problem)}
          required
          autofocus
        />
        <button>Sign in</button>
      </form>
      <form method="post" action="${at}/again"><button>Use another address</button></form>`,
  );
}

/** Asks whether the client may do what it wants. @param scopes in words */
export function consentPage(at: string, client: AskingClient, email: string, scopes: readonly string[]): Page {
  const redirect = new URL(client.redirectUri);
  const target = redirect.host === '' ? `a program on this device (${redirect.protocol})` : redirect.host;
  return pageOf(
    'Allow this program?',
    html`<p><strong>${nameOf(client)}</strong> asks to use your account <strong>${email}</strong>. It wants to:</p>
      <ul>
        ${scopes.map((scope) => html`<li>${scope}</li>`)}
      </ul>
      <p>${originOf(client)}</p>
      <p>Your answer is sent to <strong>${target}</strong>. Allow it only if you have just started this yourself.</p>
      <form method="post" action="${at}/decision">
        <button name="decision" value="allow">Allow</button>
        <button name="decision" value="deny">Deny</button>
      </form>`,
    formTarget(redirect),
  );
}

/** Says why nothing goes on, and what to do. */
export function errorPage(description: string): Page {
  return pageOf(
    'This did not work',
    html`${alert(description)}
      <p>Go back to the program that brought you here, and start again.</p>`,
  );
}

function nameOf({ name, host }: AskingClient): string {
  return name ?? host ?? 'A program without a name';
}

function originOf({ host }: AskingClient): Html {
  return host === undefined
    ? html`Its name is what it says of itself; nobody has checked it.`
    : html`It is the program of <strong>${host}</strong>; its name is what that site says.`;
}

function alert(problem: string | undefined): Html {
  return problem === undefined ? NO_HTML : html`<p id="problem" role="alert">${problem}</p>`;
}

/** Attributes of the field that the page's problem is about. */
function faulty(problem: string | undefined): Html {
  return problem === undefined ? NO_HTML : new Html('aria-invalid="true" aria-describedby="problem"');
}

/**
 * Browsers hold the redirects that follow a form to the page's policy too, and the one to the client may lead on to other addresses of its own. An
 * address of IP version 6 cannot be named in a policy.
 */
function formTarget({ protocol, hostname, origin }: URL): string {
  return protocol === 'http:' && !hostname.startsWith('[') ? origin : protocol;
}

function pageOf(title: string, content: Html, formTargets = ''): Page {
  const { text } = html`<!doctype html>
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
  return { text, contentSecurityPolicy: policy.join('; ') };
}
