import type { Config } from '../../shared/runtime/config.ts';

/** Returns a warning for each setting that is acceptable for development but dangerous in production. */
export function startWarnings({ webhooks, http, secretKey, postgresUrl, payments }: Config): string[] {
  const warnings: string[] = [];
  if (webhooks.allowPrivate) {
    warnings.push(
      'WEBHOOK_ALLOW_PRIVATE=1: any account can make this machine send requests to private addresses. Use it for development and tests only.',
    );
  }
  if (http.trustProxy === 'true') {
    warnings.push(
      'TRUST_PROXY=true: any client can forge the address that rate limits use. Set the addresses of the proxies, or their number.',
    );
  }
  if (payments?.mode === 'test') {
    warnings.push(
      'STRIPE_SECRET_KEY is a test key: packs are sold without money. What is bought is taken back at the first start with a live key.',
    );
  }
  if (secretKey === undefined && postgresUrl !== undefined) {
    warnings.push(
      'SECRET_KEY is unset: the key that encrypts secrets is stored in the same database as the secrets. Set SECRET_KEY.',
    );
  }
  return warnings;
}
