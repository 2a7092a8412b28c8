import type { Response } from 'express';
import { createMailboxHash } from '../../../shared/domain/accounts/mailbox-hash.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { takeLink } from '../../../shared/stores/accounts/signups.ts';
import { html } from '../../../shared/html/html.ts';
import { pageOf } from '../pages/page.ts';
import type { Page } from '../pages/page.ts';
import { linkProblem, tooOldPage } from './link-router.ts';
import type { LinkPage } from './link-router.ts';
import type { SignupDeps } from './signup-deps.ts';
import { openForMailbox } from './verify-code.ts';
import type { OpenedForMailbox } from './verify-code.ts';

export const SIGNUP_LINK = '/api/agent/link';

/** The page that links of sign-up open. */
export function signupLinkPage(appUrl: string): string {
  return `${appUrl}${SIGNUP_LINK}`;
}

/**
 * The page that finishes a sign-up in the browser of the person who reads the mail. The key is shown there once, and
 * never to the program that requested the mail. One transaction: a crash leaves the link unused or the account
 * complete.
 */
export function signupLink(deps: SignupDeps): LinkPage {
  const { pool, appUrl, signup } = deps;
  const mailboxHash = createMailboxHash(deps.secretKey, deps.previousKeys);
  const { host } = new URL(appUrl);
  return {
    path: SIGNUP_LINK,
    url: signupLinkPage(appUrl),
    title: 'Open an account',
    question: `The button opens an account at ${host} for your e-mail address, and shows its API key here, this once.`,
    button: 'Open the account',
    async confirm(linkHash, response) {
      if (!signup.enabled) return failed(response, 503, 'Sign-up is off here.');
      const opened = await inTransaction(pool, async (client) => {
        const confirmed = await takeLink(client, linkHash, 'signup');
        return confirmed && openForMailbox(client, confirmed, mailboxHash);
      });
      if (opened === undefined) return tooOldPage(response);
      if (opened.outcome === 'account exists') {
        return failed(
          response,
          409,
          `This mailbox has an account already. Sign in at ${deps.dashboardUrl}/dashboard/keys to create a key.`,
        );
      }
      response.status(201);
      return keyPage(opened, deps);
    },
  };
}

function failed(response: Response, status: number, description: string): Page {
  response.status(status);
  return linkProblem(description);
}

function keyPage(
  { apiKey, given }: Extract<OpenedForMailbox, { outcome: 'created' }>,
  { baseUrl, dashboardUrl }: SignupDeps,
): Page {
  return pageOf(
    'Your account is open',
    html`<p>Its API key, shown this once:</p>
      <p><code>${apiKey}</code></p>
      <p>
        Put it where your program keeps its secrets, and not into a chat. The program sends it as
        <code>Authorization: Bearer KEY</code> to <strong>${baseUrl}</strong>.
      </p>
      <p>The account has ${String(given.credits)} credits. ${'reason' in given ? given.reason : ''}</p>
      <p>
        Monitors, keys and credits are in the <a href="${dashboardUrl}/dashboard">dashboard</a>: sign in with the same
        address.
      </p>
      <p class="note">How it is used: <a href="${baseUrl}/docs">${baseUrl}/docs</a></p>`,
  );
}
