import { html } from '../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../shared/http/html.ts';
import { pageOf, problem } from '../../../shared/http/page.ts';
import type { Page } from '../../../shared/http/page.ts';

export interface RequestingClient {
  name: string | undefined;
  /** Of the document that describes the client; undefined for one that registered itself, which could be anybody. */
  host: string | undefined;
  redirectUri: string;
}

export function addressPage(pageUrl: string, client: RequestingClient, fault?: string, given = ''): Page {
  return pageOf(
    'Sign in',
    html`<p>${nameOf(client)} wants to use your account.</p>
      ${problem(fault)}
      <form method="post" action="${pageUrl}/address">
        <div class="field">
          <label for="email">E-mail address</label>
          <input
            id="email"
            name="email"
            type="email"
            autocomplete="email"
            maxlength="254"
            value="${given}"
            ${faulty(fault)}
            required
            autofocus
          />
        </div>
        <button>Send me a code</button>
      </form>
      <p class="note">If you have no account yet, a free one is created.</p>`,
  );
}

export function codePage(pageUrl: string, email: string, fault?: string): Page {
  return pageOf(
    'Enter the code',
    html`<p>A 6-digit code was mailed to <strong>${email}</strong>. It is valid for 10 minutes.</p>
      <p>If the mail contains a link instead of a code, open it in this browser.</p>
      ${problem(fault)}
      <form method="post" action="${pageUrl}/code">
        <div class="field">
          <label for="code">Code</label>
          <input
            id="code"
            name="code"
            inputmode="numeric"
            autocomplete="one-time-code"
            pattern="[0-9 ]{6,9}"
            maxlength="9"
            ${faulty(fault)}
            required
            autofocus
          />
        </div>
        <button>Sign in</button>
      </form>
      <form method="post" action="${pageUrl}/again"><button class="quiet">Use another address</button></form>`,
  );
}

export function consentPage(pageUrl: string, client: RequestingClient, email: string, scopes: readonly string[]): Page {
  const redirect = new URL(client.redirectUri);
  const target = redirectTarget(client);
  return pageOf(
    'Allow this app?',
    html`<p>
        <strong>${nameOf(client)}</strong> wants to use your account <strong>${email}</strong>. It will be able to:
      </p>
      <ul>
        ${scopes.map((scope) => html`<li>${scope}</li>`)}
      </ul>
      <p>${originOf(client)}</p>
      <p>Your answer is sent to <strong>${target}</strong>. Allow this only if you have just started it yourself.</p>
      <form method="post" action="${pageUrl}/decision">
        <div class="actions">
          <button name="decision" value="allow">Allow</button>
          <button name="decision" value="deny" class="quiet">Deny</button>
        </div>
      </form>`,
    formTarget(redirect),
  );
}

export function errorPage(description: string): Page {
  return pageOf(
    'Something went wrong',
    html`${problem(description)}
      <p>Go back to the app that brought you here, and start again.</p>`,
  );
}

function nameOf({ name, host }: RequestingClient): string {
  return name ?? host ?? 'An app without a name';
}

function originOf({ host }: RequestingClient): Html {
  return host === undefined
    ? html`The app chose its own name, which is not verified.`
    : html`The app belongs to <strong>${host}</strong>, which chose its name.`;
}

function faulty(fault: string | undefined): HtmlValue {
  return fault !== undefined && html`aria-invalid="true" aria-describedby="problem"`;
}

/** Browsers apply it to the redirects after a form, too. A policy cannot name an IPv6 address. */
function formTarget({ protocol, hostname, origin }: URL): string {
  return protocol === 'http:' && !hostname.startsWith('[') ? origin : protocol;
}

/** For people. In an address with the scheme of an app, the host is only a text of that app. */
export function redirectTarget({ redirectUri }: RequestingClient): string {
  const { host, protocol } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : `an app on this device (${protocol})`;
}
