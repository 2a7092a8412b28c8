import type { Request, Response } from 'express';
import { z } from 'zod';
import { randomText } from '../../../shared/domain/identifiers.ts';
import type { SealedRecords } from '../../../shared/stores/accounts/sealed-records.ts';
import { cookieOf, linkProblem, tooOldPage } from '../signup/link-router.ts';
import type { LinkPage } from '../signup/link-router.ts';
import { CODE_SECONDS } from '../../../shared/domain/accounts/mailed-tokens.ts';
import { html } from '../../../shared/html/html.ts';
import { pageOf } from '../pages/page.ts';
import type { Page } from '../pages/page.ts';
import { folderOf, SIGN_IN_LINK } from './oauth-metadata.ts';
import { signInProblem } from '../sign-in/sign-in.ts';
import type { SignedInAccount, SignIn } from '../sign-in/sign-in.ts';

const COOKIE = 'oauth_signed_in';
const MODEL = 'SignedIn';
const PROOF_LENGTH = 52;

/** Who signed in, as it is stored until they decide. */
export const signedInAccount = z.object({ accountId: z.string(), email: z.string() });

/** Browsers that a link signed in. */
export interface SignedInBrowsers {
  /** Signs a browser in for its next authorisation: once, and for ten minutes. */
  remember(response: Response, who: SignedInAccount): Promise<void>;
  /** Consumes the browser's sign-in. @returns undefined when the browser is not signed in */
  take(request: Request, response: Response): Promise<SignedInAccount | undefined>;
  /** Whether the browser has a sign-in cookie; the cookie is not checked. */
  isSignedIn(request: Request): boolean;
}

/** The proof is in a cookie of the pages' path and stored as a hash, so other browsers cannot use it. */
export function createSignedInBrowsers(records: SealedRecords, baseUrl: string): SignedInBrowsers {
  const path = `${folderOf(baseUrl)}/oauth`;
  const secure = new URL(baseUrl).protocol === 'https:';
  const options = { path, httpOnly: true, sameSite: 'lax', secure } as const;
  return {
    async remember(response, { accountId, email }) {
      const proof = randomText(PROOF_LENGTH);
      await records.put({ model: MODEL, id: proof, payload: { accountId, email }, validSeconds: CODE_SECONDS });
      response.cookie(COOKIE, proof, { ...options, maxAge: CODE_SECONDS * 1000 });
    },
    async take(request, response) {
      const proof = cookieOf(request, COOKIE);
      if (proof === undefined) return undefined;
      response.clearCookie(COOKIE, options);
      const found = await records.find(MODEL, proof);
      if (found === undefined || !(await records.consume(MODEL, proof, 0))) return undefined;
      return signedInAccount.safeParse(found.payload).data;
    },
    isSignedIn: (request) => cookieOf(request, COOKIE) !== undefined,
  };
}

/**
 * The page that signs in the browser which opened the link. It then redirects to the program's authorisation if the
 * same browser started it.
 */
export function signInLink(parts: {
  baseUrl: string;
  signIn: SignIn;
  browsers: SignedInBrowsers;
  /** The URL of the pages for a sign-in under way. */
  pageOf: (interaction: string) => string;
}): LinkPage {
  const { host } = new URL(parts.baseUrl);
  return {
    path: SIGN_IN_LINK,
    url: parts.baseUrl + SIGN_IN_LINK,
    title: 'Sign in',
    question: `The button signs you in at ${host}, in this browser alone.`,
    button: 'Sign in',
    async confirm(linkHash, response) {
      const verdict = await parts.signIn.confirmLink(linkHash, response.req.ip);
      if (verdict === undefined) return tooOldPage(response);
      if (verdict.outcome !== 'signed in') {
        response.status(400);
        return linkProblem(signInProblem(verdict));
      }
      await parts.browsers.remember(response, verdict);
      if (verdict.interaction === null) return signedInPage();
      response.redirect(303, parts.pageOf(verdict.interaction));
      return undefined;
    },
  };
}

/** For a browser that a link signed in, but that did not start the authorisation. */
export function signedInPage(): Page {
  return pageOf(
    'You are signed in',
    html`<p>This browser is signed in for ${String(CODE_SECONDS / 60)} minutes.</p>
      <p>
        Go back to your program, start again there, and let it open this browser: it asks whether you allow it, without
        a code. The page where you asked for the mail stays signed out.
      </p>`,
  );
}
