import { Router, urlencoded } from 'express';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { errors } from 'oidc-provider';
import type Provider from 'oidc-provider';
import type { Interaction } from 'oidc-provider';
import { z } from 'zod';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import type { StoredAccount } from '../../../shared/accounts/accounts.ts';
import { CODE_SECONDS } from '../../../shared/accounts/rules/credentials.ts';
import { SealedRecords } from '../../../shared/accounts/sealed-records.ts';
import { takeUse } from '../../../shared/accounts/sliding-log-limits.ts';
import { html } from '../../../shared/http/html.ts';
import { randomText } from '../../../shared/rules/identifiers.ts';
import { newConnectedAppMail, sendSecurityMail } from '../account/security-mails.ts';
import { ApiError, toApiError } from '../http/api-error.ts';
import { pageOf, sendPage } from '../../../shared/http/page.ts';
import type { Page } from '../../../shared/http/page.ts';
import { methodNotAllowed } from '../http/route.ts';
import { SIGN_IN } from '../signup/code-mail.ts';
import { cookieOf, createLinkRouter, linkProblem, tooOldPage } from '../signup/link-router.ts';
import type { LinkPage } from '../signup/link-router.ts';
import { createSignIn, signInProblem } from '../signup/sign-in.ts';
import type { SignedInAccount, SignIn } from '../signup/sign-in.ts';
import { createFindDocument, createRegistrationRouter, isDocumentId } from './client-documents.ts';
import { createProvider, createProviderRoutes, GRANT_SECONDS, trustIssuer } from './create-provider.ts';
import type { OAuthDeps } from './create-provider.ts';
import { createOAuthLimits } from './oauth-limits.ts';
import { createMetadataRouter, folderOf, resourceOf, SCOPES, SIGN_IN_LINK } from './oauth-metadata.ts';
import { addressPage, codePage, consentPage, errorPage, redirectTarget } from './pages.ts';
import type { RequestingClient } from './pages.ts';

export function createOAuthRouter(deps: OAuthDeps): Router {
  const records = new SealedRecords(deps.pool, deps.secretBox);
  const { allowPrivate } = deps.webhooks;
  const findDocument = createFindDocument({ egress: deps.egress, allowPrivate, records, pool: deps.pool });
  const provider = createProvider(deps, { records, findDocument, urlOf: (uid) => interactionUrl(deps.baseUrl, uid) });
  const limit = createOAuthLimits(deps.pool);
  const router = Router();
  router.use('/oauth', keepOpener);
  router.use(createMetadataRouter(deps.baseUrl));
  router.use(createRegistrationRouter(records, limit('registration')));
  const signIn = createSignIn(deps, SIGN_IN, deps.baseUrl + SIGN_IN_LINK);
  const browsers = createSignedInBrowsers(records, deps.baseUrl);
  router.use(createLinkRouter(signInLink(deps.baseUrl, signIn, browsers), limit('link')));
  router.use(createInteractionRouter({ oauth: deps, provider, records, signIn, browsers }));
  router.use(createProviderRoutes(provider, limit));
  return router;
}

/** Clients open these pages in a popup window and wait there for the response, so the page must keep its opener. */
const keepOpener: RequestHandler = (_request, response, next) => {
  response.removeHeader('Cross-Origin-Opener-Policy');
  next();
};

const COOKIE = 'oauth_signed_in';
const MODEL = 'SignedIn';
const PROOF_LENGTH = 52;

/** Who signed in, as it is stored until they decide. */
const signedInAccount = z.object({ accountId: z.string(), email: z.string() });

type SignedInBrowsers = ReturnType<typeof createSignedInBrowsers>;

/** The proof is in a cookie of the pages' path and stored as a hash, so other browsers cannot use it. */
function createSignedInBrowsers(records: SealedRecords, baseUrl: string) {
  const path = `${folderOf(baseUrl)}/oauth`;
  const secure = new URL(baseUrl).protocol === 'https:';
  const options = { path, httpOnly: true, sameSite: 'lax', secure } as const;
  return {
    /** Signs a browser in for its next authorisation: once, and for ten minutes. */
    async signIn(response: Response, { accountId, email }: SignedInAccount): Promise<void> {
      const proof = randomText(PROOF_LENGTH);
      await records.put({ model: MODEL, id: proof, payload: { accountId, email }, validSeconds: CODE_SECONDS });
      response.cookie(COOKIE, proof, { ...options, maxAge: CODE_SECONDS * 1000 });
    },
    async take(request: Request, response: Response): Promise<SignedInAccount | undefined> {
      const proof = cookieOf(request, COOKIE);
      if (proof === undefined) return undefined;
      response.clearCookie(COOKIE, options);
      const found = await records.find(MODEL, proof);
      if (found === undefined || !(await records.consume(MODEL, proof, 0))) return undefined;
      return signedInAccount.safeParse(found.payload).data;
    },
    isSignedIn: (request: Request): boolean => cookieOf(request, COOKIE) !== undefined,
  };
}

/** Signs in the browser that opened the link, and leads on to the authorisation if that browser started it. */
function signInLink(baseUrl: string, signIn: SignIn, browsers: SignedInBrowsers): LinkPage {
  const { host } = new URL(baseUrl);
  return {
    path: SIGN_IN_LINK,
    url: baseUrl + SIGN_IN_LINK,
    title: 'Sign in',
    question: `Press the button to sign in to ${host} in this browser only.`,
    button: 'Sign in',
    async confirm(linkHash, response) {
      const result = await signIn.confirmLink(linkHash, response.req.ip);
      if (result === undefined) return tooOldPage(response);
      if (result.outcome !== 'signed in') return linkProblem(response, 400, signInProblem(result));
      await browsers.signIn(response, result);
      if (result.interaction === null) return signedInPage();
      response.redirect(303, interactionUrl(baseUrl, result.interaction));
      return undefined;
    },
  };
}

/** For a browser that a link signed in, but that did not start the authorisation. */
function signedInPage(): Page {
  return pageOf(
    'You are signed in',
    html`<p>This browser is signed in for ${String(CODE_SECONDS / 60)} minutes.</p>
      <p>
        Go back to your app, start again there, and let it open this browser. You are asked whether to allow the app,
        without a code. The page where you requested the mail stays signed out.
      </p>`,
  );
}

const PATH = '/oauth/interaction';
const BODY_LIMIT = 4 * 1024;
/** Each is mailed to the owner: whoever connects apps in a loop must not bury the mail that matters. */
const GRANTS_PER_DAY = 40;
const DAY = 86_400;
const START_AGAIN = 'This sign-in has expired, or was started in another browser.';

interface InteractionDeps {
  oauth: OAuthDeps;
  provider: Provider;
  records: SealedRecords;
  signIn: SignIn;
  browsers: SignedInBrowsers;
}

/** What the pages store for a sign-in under way, apart from what the provider needs at the end. */
const signInState = z.object({
  code: z.object({ token: z.string(), email: z.string() }).optional(),
  login: signedInAccount.optional(),
});
type SignInState = z.output<typeof signInState>;

interface Step extends InteractionDeps {
  request: Request;
  response: Response;
  interaction: Interaction;
  state: SignInState;
  pageUrl: string;
}

function interactionUrl(baseUrl: string, uid: string): string {
  return `${folderOf(baseUrl)}${PATH}/${uid}`;
}

/**
 * The pages of a sign-in: address, code, consent. Each form redirects to the next page. A sign-in belongs to the
 * browser that started it: its id is also in a cookie of this path, which pages of other sites cannot send with a form.
 */
function createInteractionRouter(deps: InteractionDeps): Router {
  const { oauth } = deps;
  const router = Router();
  const page = `${PATH}/:uid`;
  router.use(page, noStore);
  const steps: Record<string, (step: Step) => Promise<void>> = {
    address: takeAddress,
    code: takeCode,
    again: (step) => proceed(step, {}),
    decision: takeDecision,
  };
  router.get(page, trustIssuer(oauth.baseUrl), withStep(deps, showPage));
  router.all(page, methodNotAllowed(['GET', 'HEAD']));
  for (const [name, take] of Object.entries(steps)) {
    const form = urlencoded({ extended: false, limit: BODY_LIMIT });
    const guards = [refuseOtherSites(oauth.baseUrl), trustIssuer(oauth.baseUrl), form];
    router.post(`${page}/${name}`, guards, withStep(deps, take));
    // Reloading the result of a form shows the page again.
    router.get(`${page}/${name}`, (request, response) => {
      response.redirect(303, interactionUrl(oauth.baseUrl, request.params.uid));
    });
    router.all(`${page}/${name}`, methodNotAllowed(['GET', 'HEAD', 'POST']));
  }
  router.use(page, showRefusal(deps));
  return router;
}

const noStore: RequestHandler = (_request, response, next) => {
  response.set('Cache-Control', 'no-store');
  next();
};

/** In addition to the cookie, which forms of other sites do not send: browsers say where a form was submitted. */
function refuseOtherSites(baseUrl: string): RequestHandler {
  const { origin } = new URL(baseUrl);
  return (request, _response, next) => {
    const [site, from] = [request.get('Sec-Fetch-Site'), request.get('Origin')];
    if ((site !== undefined && site !== 'same-origin') || (from !== undefined && from !== origin)) {
      throw new errors.SessionNotFound('the form was on another site');
    }
    next();
  };
}

function withStep(deps: InteractionDeps, handle: (step: Step) => Promise<void>): RequestHandler {
  return async (request, response) => {
    const interaction = await deps.provider.interactionDetails(request, response);
    if (interaction.uid !== request.params.uid) throw new errors.SessionNotFound('another sign-in');
    const pageUrl = interactionUrl(deps.oauth.baseUrl, interaction.uid);
    const state = signInState.parse(interaction.result ?? {});
    await handle({ ...deps, request, response, interaction, pageUrl, state });
  };
}

async function showPage(begun: Step): Promise<void> {
  const step = await withLinkedBrowser(begun);
  const { response, interaction, state, pageUrl } = step;
  const client = await requestingClient(step);
  if (state.login) {
    if ((await findOwner(step, state.login)) === undefined) return;
    send(response, 200, consentPage(pageUrl, client, state.login.email, wordsOf(interaction)));
  } else if (state.code) send(response, 200, codePage(pageUrl, state.code.email));
  else send(response, 200, addressPage(pageUrl, client));
}

/** A browser that a link signed in needs no code, whichever app started the sign-in. */
async function withLinkedBrowser(step: Step): Promise<Step> {
  if (step.state.login || step.request.method !== 'GET') return step;
  const login = await step.browsers.take(step.request, step.response);
  if (login === undefined) return step;
  const state: SignInState = { login };
  await saveState(step, state);
  return { ...step, state };
}

async function takeAddress(step: Step): Promise<void> {
  const { request, response, pageUrl, signIn, interaction } = step;
  const email = field(request, 'email').trim();
  try {
    const token = await signIn.sendCode(email, request.ip, interaction.uid);
    await proceed(step, { code: { token, email } });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.retryAfter !== undefined) response.set('Retry-After', String(error.retryAfter));
    const problem = error.message.replace(/^email: /, 'The address ');
    send(response, error.status, addressPage(pageUrl, await requestingClient(step), problem, email));
  }
}

async function takeCode(step: Step): Promise<void> {
  const { request, response, pageUrl, signIn, state } = step;
  if (!state.code) return proceed(step, state);
  const result = await signIn.verify(state.code.token, field(request, 'code').replaceAll(' ', ''), request.ip);
  if (result.outcome === 'signed in') return proceed(step, { login: signedInAccount.parse(result) });
  const problem = signInProblem(result);
  if (result.outcome === 'wrong' && result.triesLeft > 0) {
    send(response, 400, codePage(pageUrl, state.code.email, problem));
    return;
  }
  await saveState(step, {});
  send(response, 400, addressPage(pageUrl, await requestingClient(step), problem));
}

async function takeDecision(step: Step): Promise<void> {
  const { request, response, provider, state } = step;
  const decision = field(request, 'decision');
  if (!state.login || (decision !== 'allow' && decision !== 'deny')) return proceed(step, state);
  if (decision === 'allow') return allow(step, state.login);
  const denied = { error: 'access_denied', error_description: 'The user denied access.' };
  await provider.interactionFinished(request, response, denied, { mergeWithLastSubmission: false });
}

async function allow(step: Step, login: SignedInAccount): Promise<void> {
  const { provider, records, request, response, interaction, oauth } = step;
  const ofAccount = { name: `grants:${login.accountId}`, maxUses: GRANTS_PER_DAY, seconds: DAY };
  const retryAfter = await takeUse(oauth.pool, ofAccount);
  // A decision can be sent again and again until its redirect is followed.
  if (retryAfter > 0) {
    throw new ApiError('rate_limited', `An account can connect ${GRANTS_PER_DAY} apps a day. Try again later.`, {
      retryAfter,
    });
  }
  const clientId = String(interaction.params.client_id);
  const grant = new provider.Grant({ accountId: login.accountId, clientId });
  // As the client writes it: a slash at its end makes it another name for the provider.
  const { resource } = interaction.params;
  const named = typeof resource === 'string' ? resource : resourceOf(oauth.baseUrl);
  grant.addResourceScope(named, scopesOf(interaction).join(' '));
  const grantId = await grant.save();
  // After the grant is stored: whoever changes the address later sees it among the connected apps.
  const account = await findOwner(step, login, grantId);
  if (account === undefined) return;
  await records.allowClient(clientId, GRANT_SECONDS);
  const client = await requestingClient(step);
  const host = client.host ?? redirectTarget(client);
  const app = { name: client.name, host, permissions: wordsOf(interaction), at: new Date() };
  await sendSecurityMail(oauth, newConnectedAppMail(account.email, app, oauth.dashboardUrl), 'an app was connected');
  const result = { login: { ...login, remember: false }, consent: { grantId } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

/**
 * Finds the account that signed in. When it is closed or has another address by now, the sign-in begins again: whoever
 * reads the mailbox of the earlier address must not continue it. A grant stored meanwhile is revoked.
 */
async function findOwner(
  step: Step,
  { accountId, email }: SignedInAccount,
  grantId?: string,
): Promise<StoredAccount | undefined> {
  const account = await findAccount(step.oauth.pool, accountId);
  if (account?.status === 'active' && account.email === email) return account;
  if (grantId !== undefined) await step.records.revokeGrant(grantId);
  const problem = signInProblem({ outcome: account?.status === 'active' ? 'expired' : 'frozen' });
  await saveState(step, {});
  send(step.response, 400, addressPage(step.pageUrl, await requestingClient(step), problem));
  return undefined;
}

const wordsOf = (interaction: Interaction): string[] => scopesOf(interaction).map((scope) => SCOPES.get(scope)!);

async function requestingClient({ provider, interaction }: Step): Promise<RequestingClient> {
  const id = String(interaction.params.client_id);
  const client = await provider.Client.find(id);
  if (!client) throw new errors.SessionNotFound('the client no longer exists');
  return {
    name: client.clientName,
    host: isDocumentId(id) ? new URL(id).host : undefined,
    redirectUri: String(interaction.params.redirect_uri),
  };
}

function scopesOf({ params }: Interaction): string[] {
  return String(params.scope)
    .split(' ')
    .filter((scope) => SCOPES.has(scope));
}

async function saveState({ provider, request, response }: Step, state: SignInState): Promise<void> {
  await provider.interactionResult(request, response, state, { mergeWithLastSubmission: false });
}

async function proceed(step: Step, state: SignInState): Promise<void> {
  await saveState(step, state);
  step.response.redirect(303, step.pageUrl);
}

function field({ body }: Request, name: string): string {
  const value = (body as Record<string, unknown> | undefined)?.[name];
  return typeof value === 'string' ? value.slice(0, 1_000) : '';
}

function send(response: Response, status: number, page: Page): void {
  sendPage(response.status(status), page);
}

function showRefusal({ browsers }: InteractionDeps): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    // The link was opened in another browser than the one that requested it.
    if (error instanceof errors.SessionNotFound && browsers.isSignedIn(request)) send(response, 200, signedInPage());
    else if (error instanceof errors.SessionNotFound) send(response, 400, errorPage(START_AGAIN));
    else if (error instanceof errors.OIDCProviderError && error.expose) {
      send(response, error.statusCode, errorPage(error.error_description ?? error.error));
    } else {
      const refusal = toApiError(error);
      if (refusal === undefined || refusal.code === 'method_not_allowed') next(error);
      else {
        if (refusal.retryAfter !== undefined) response.set('Retry-After', String(refusal.retryAfter));
        send(response, refusal.status, errorPage(refusal.message));
      }
    }
  };
}
