import { Router } from 'express';
import type { Request } from 'express';
import { html } from '../../../shared/http/html.ts';
import { monitorOfLink, stopMatchMails, UNSUBSCRIBE_PATH } from '../../../shared/notices/match-mails.ts';
import { pageOf } from '../../../shared/http/page.ts';
import { ApiError } from '../http/api-error.ts';
import { methodNotAllowed } from '../http/route.ts';
import { takeForNetworks } from '../oauth/oauth-limits.ts';
import { INCOMPLETE, linkProblem, protectLink, showLinkPage } from '../signup/link-router.ts';
import type { PagesDeps } from './dashboard.ts';

const TITLE = 'Mails about new matches';
/** Mail programs that end mails for many people share a network. */
const PER_NETWORK = { name: 'unsubscribe', maxUses: 60, seconds: 60 };

/**
 * The link in mails about matches. GET has no effect, because mail scanners open links: it shows a button. POST ends
 * the mails, also when a mail program sends it (RFC 8058): the link alone gives the right, so it needs no session, no
 * cookie and no token, its body is not read, and only who has a link reaches the database.
 */
export function createUnsubscribeRouter({ deps: { pool, secretBox }, address }: PagesDeps): Router {
  const path = address.mount + UNSUBSCRIBE_PATH;
  const monitorOf = ({ query }: Request) => monitorOfLink(secretBox, query.link);
  const router = Router();
  router.use(path, protectLink);
  router.get(path, (request, response) => {
    if (monitorOf(request) === undefined) showLinkPage(response, linkProblem(response, 400, INCOMPLETE));
    else showLinkPage(response, pageOf(TITLE, BUTTON));
  });
  router.post(path, async (request, response) => {
    const monitorId = monitorOf(request);
    if (monitorId === undefined) {
      showLinkPage(response, linkProblem(response, 400, INCOMPLETE));
      return;
    }
    const refused = await takeForNetworks(pool, PER_NETWORK, request.ip, []);
    if (refused !== undefined) {
      const { retryAfter } = refused;
      throw new ApiError('rate_limited', `Too many requests from this network. Try again in ${retryAfter} s.`, {
        retryAfter,
      });
    }
    await stopMatchMails(pool, monitorId, 'unsubscribed');
    showLinkPage(
      response,
      pageOf(
        TITLE,
        html`<p role="status">No more mails about matches of this monitor will be sent.</p>
          <p><a href="${address.url}/monitors/${monitorId}/webhook">Change what the monitor sends</a></p>`,
      ),
    );
  });
  router.all(path, methodNotAllowed(['GET', 'HEAD', 'POST']));
  return router;
}

/** Its form is sent to the address of the page, with the link. */
const BUTTON = html`<p>Press the button to get no more mails about new matches of this monitor. It keeps running.</p>
  <form method="post"><button>Stop these mails</button></form>`;
