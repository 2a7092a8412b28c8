import { errors } from 'oidc-provider';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { SealedRecords } from '../../../shared/stores/accounts/sealed-records.ts';
import type { Page } from '../pages/page.ts';

/**
 * Shows errors on our own page instead of redirecting to a client that nobody ever authorised. Anybody can register a
 * client, and its requests could otherwise redirect from our address to any other without anybody being asked (RFC
 * 9700, 4.11.2). A denial is redirected, since it follows the user's own click.
 */
export function showErrorsLocally(
  provider: Provider,
  records: SealedRecords,
  errorPage: (description: string) => Page,
): void {
  const refusals = new WeakMap<object, Error>();
  const note = (context: object, error: Error) => void refusals.set(context, error);
  provider.on('authorization.error', note);
  provider.on('server_error', note);
  provider.use(async (anyContext, next) => {
    await next();
    const refusal = refusals.get(anyContext);
    if (refusal === undefined || anyContext.response.get('Location') === '') return;
    const context = anyContext as unknown as KoaContextWithOIDC;
    const clientId = context.oidc.client?.clientId;
    const { error, description } = saidBy(refusal);
    const wasDenied = context.oidc.route === 'resume' && error === 'access_denied';
    if (wasDenied || (clientId !== undefined && (await records.isAllowedClient(clientId)))) return;
    context.remove('Location');
    context.status = 400;
    showPage(context, errorPage(description));
  });
}

/** An error that OAuth does not define is our fault: the page gives no details. */
function saidBy(refusal: Error): { error: string; description: string } {
  const known = refusal instanceof errors.OIDCProviderError && refusal.expose;
  if (!known) return { error: 'server_error', description: 'Something went wrong here.' };
  return { error: refusal.error, description: refusal.error_description ?? refusal.error };
}

/** Replaces the provider's answer by a page. */
export function showPage(context: KoaContextWithOIDC, page: Page): void {
  context.type = 'html';
  context.set('Cache-Control', 'no-store');
  context.set('Content-Security-Policy', page.contentSecurityPolicy);
  context.body = page.text;
}
