import type { Config } from '../../shared/runtime/config.ts';

/** What is fine on a developer's machine and dangerous in production, one sentence each. */
export function startWarnings({ webhooks, http, secretKey, postgresUrl }: Config): string[] {
  const warnings: string[] = [];
  if (webhooks.allowPrivate) {
    warnings.push(
      'WEBHOOK_ALLOW_PRIVATE=1: any account can make this machine call private addresses. For development and tests only.',
    );
  }
  if (http.trustProxy === 'true') {
    warnings.push(
      'TRUST_PROXY=true: every client can choose the address that limits see. Name the proxies, or how many there are.',
    );
  }
  if (secretKey === undefined && postgresUrl !== undefined) {
    warnings.push(
      'SECRET_KEY is unset: the key of all secrets lies in the database that it is meant to protect. Set SECRET_KEY.',
    );
  }
  return warnings;
}
