import { Router } from 'express';
import type { RequestHandler } from 'express';
import { createFindDocument } from './client-documents.ts';
import { createProvider } from './create-provider.ts';
import { createInteractionRouter, interactionUrl } from './interaction-router.ts';
import { createOAuthLimits } from './oauth-limits.ts';
import { createMetadataRouter } from './oauth-metadata.ts';
import type { OAuthService } from './oauth-service.ts';
import { errorPage } from './pages.ts';
import { createSignedInBrowsers, signInLink } from './sign-in-link.ts';
import { createSignIn } from './sign-in.ts';
import { createLinkRouter } from '../signup/link-router.ts';
import { createProviderRoutes } from './provider-routes.ts';
import { createRegistrationRouter } from './register-client.ts';
import { SealedRecords } from '../../../shared/stores/accounts/sealed-records.ts';

/** Sign-in for the tool server: metadata, clients, pages, tokens. */
export function createOAuthRouter(service: OAuthService): Router {
  const records = new SealedRecords(service.pool, service.secretBox);
  const { allowPrivate } = service.webhooks;
  const pageOf = (uid: string) => interactionUrl(service.baseUrl, uid);
  const findDocument = createFindDocument({ door: service.door, allowPrivate, records, pool: service.pool });
  const provider = createProvider(service, {
    records,
    findDocument,
    pageOf,
    errorPage,
  });
  const limit = createOAuthLimits(service.pool);
  const router = Router();
  router.use('/oauth', keepOpener);
  router.use(createMetadataRouter(service.baseUrl));
  router.use(createRegistrationRouter(records, limit('registration')));
  const signIn = createSignIn(service);
  const browsers = createSignedInBrowsers(records, service.baseUrl);
  router.use(createLinkRouter(signInLink({ baseUrl: service.baseUrl, signIn, browsers, pageOf }), limit('link')));
  router.use(createInteractionRouter({ service, provider, records, signIn, browsers }));
  router.use(createProviderRoutes(provider, limit));
  return router;
}

/** Clients open these pages in a window of their own, and wait there for the answer: it must not lose whoever opened it. */
const keepOpener: RequestHandler = (_request, response, next) => {
  response.removeHeader('Cross-Origin-Opener-Policy');
  next();
};
