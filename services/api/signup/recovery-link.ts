import { inTransaction } from '../../../shared/postgres/pool.ts';
import { takeLink } from '../../../shared/stores/accounts/signups.ts';
import { ApiError } from '../http/api-error.ts';
import { html } from '../../../shared/html/html.ts';
import { pageOf } from '../pages/page.ts';
import { linkProblem, tooOldPage } from './link-router.ts';
import type { LinkPage } from './link-router.ts';
import { issueRecoveredKey } from './recover-key.ts';
import type { SignupDeps } from './signup-deps.ts';

const RECOVERY_LINK = '/api/agent/recover/link';

/** The page that links of recovery open. */
export function recoveryLinkPage(appUrl: string): string {
  return `${appUrl}${RECOVERY_LINK}`;
}

/** The page that gives a new key to the person who reads the mail, and never to the program that requested it. */
export function recoveryLink(deps: SignupDeps): LinkPage {
  const { pool, appUrl, baseUrl } = deps;
  return {
    path: RECOVERY_LINK,
    url: recoveryLinkPage(appUrl),
    title: 'Get a new API key',
    question: `The button creates an API key for your account at ${new URL(appUrl).host}, and shows it here, this once.`,
    button: 'Create the key',
    async confirm(linkHash, response) {
      const confirmed = await inTransaction(pool, (client) => takeLink(client, linkHash, 'recovery'));
      if (confirmed === undefined) return tooOldPage(response);
      try {
        const apiKey = await issueRecoveredKey(deps, confirmed);
        response.status(201);
        return pageOf(
          'Your new key',
          html`<p>The API key, shown this once:</p>
            <p><code>${apiKey}</code></p>
            <p>
              Put it where your program keeps its secrets, and not into a chat. The program sends it as
              <code>Authorization: Bearer KEY</code> to <strong>${baseUrl}</strong>.
            </p>`,
        );
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        response.status(error.status);
        return linkProblem(error.message);
      }
    },
  };
}
