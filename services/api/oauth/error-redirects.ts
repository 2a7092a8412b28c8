import { errors } from 'oidc-provider';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Page } from '../pages/page.ts';

/**
 * Shows errors on our own page instead of redirecting to the client, until the person has decided in this browser.
 * Anybody can register a client and allow it with an account of their own, and its requests could otherwise redirect
 * from our address to any other without anybody being asked (RFC 9700, 4.11.2). What follows the person's decision is
 * redirected: a denial, and an error after it.
 */
export function showErrorsLocally(provider: Provider, errorPage: (description: string) => Page): void {
  const refusals = new WeakMap<object, Error>();
  const note = (context: object, error: Error) => void refusals.set(context, error);
  provider.on('authorization.error', note);
  provider.on('server_error', note);
  provider.use(async (anyContext, next) => {
    await next();
    const refusal = refusals.get(anyContext);
    if (refusal === undefined || anyContext.response.get('Location') === '') return;
    const context = anyContext as unknown as KoaContextWithOIDC;
    const { result } = context.oidc.entities.Interaction ?? {};
    if (result?.error !== undefined || result?.consent !== undefined) return;
    context.remove('Location');
    context.status = 400;
    showPage(context, errorPage(descriptionOf(refusal)));
  });
}

/** An error that OAuth does not define is our fault: the page gives no details. */
function descriptionOf(refusal: Error): string {
  const known = refusal instanceof errors.OIDCProviderError && refusal.expose;
  return known ? (refusal.error_description ?? refusal.error) : 'Something went wrong here.';
}

/** Replaces the provider's answer by a page. */
export function showPage(context: KoaContextWithOIDC, page: Page): void {
  context.type = 'html';
  context.set('Cache-Control', 'no-store');
  context.set('Content-Security-Policy', page.contentSecurityPolicy);
  context.body = page.text;
}
