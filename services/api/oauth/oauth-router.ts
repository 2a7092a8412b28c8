import { Router } from 'express';
import type { RequestHandler } from 'express';
import { createFindDocument } from './client-documents.ts';
import { createProvider, createProviderRoutes } from './create-provider.ts';
import type { OAuthDeps } from './create-provider.ts';
import { createInteractionRouter, interactionUrl } from './interaction-router.ts';
import { createOAuthLimits } from './oauth-limits.ts';
import { createMetadataRouter, SIGN_IN_LINK } from './oauth-metadata.ts';
import { SIGN_IN } from '../signup/code-mail.ts';
import { errorPage } from './pages.ts';
import { createSignedInBrowsers, signInLink } from './sign-in-link.ts';
import { createSignIn } from '../sign-in/sign-in.ts';
import { createLinkRouter } from '../signup/link-router.ts';
import { createRegistrationRouter } from './register-client.ts';
import { SealedRecords } from '../../../shared/stores/accounts/sealed-records.ts';

/** Sign-in for the tool server: metadata, clients, pages, tokens. */
export function createOAuthRouter(deps: OAuthDeps): Router {
  const records = new SealedRecords(deps.pool, deps.secretBox);
  const { allowPrivate } = deps.webhooks;
  const pageOf = (uid: string) => interactionUrl(deps.baseUrl, uid);
  const findDocument = createFindDocument({ egress: deps.egress, allowPrivate, records, pool: deps.pool });
  const provider = createProvider(deps, { records, findDocument, pageOf, errorPage });
  const limit = createOAuthLimits(deps.pool);
  const router = Router();
  router.use('/oauth', keepOpener);
  router.use(createMetadataRouter(deps.baseUrl));
  router.use(createRegistrationRouter(records, limit('registration')));
  const signIn = createSignIn(deps, SIGN_IN, deps.baseUrl + SIGN_IN_LINK);
  const browsers = createSignedInBrowsers(records, deps.baseUrl);
  router.use(createLinkRouter(signInLink({ baseUrl: deps.baseUrl, signIn, browsers, pageOf }), limit('link')));
  router.use(createInteractionRouter({ oauth: deps, provider, records, signIn, browsers }));
  router.use(createProviderRoutes(provider, limit));
  return router;
}

/** Clients open these pages in a popup window and wait there for the answer, so the page must keep its opener. */
const keepOpener: RequestHandler = (_request, response, next) => {
  response.removeHeader('Cross-Origin-Opener-Policy');
  next();
};
