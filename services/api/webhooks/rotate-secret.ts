import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import { newWebhookSecret } from '../../../shared/domain/webhooks/webhook-secret.ts';
import type { PoolClient } from '../../../shared/postgres/pool.ts';
import { rotateWebhookSecret } from '../../../shared/stores/monitors/monitor-webhooks.ts';
import { findAndLockMonitor } from '../monitors/find-monitor.ts';

/** Sets a new secret and returns it, only this once. Runs in the caller's transaction. @throws ApiError not_found */
export async function rotateSecret(
  client: PoolClient,
  secretBox: SecretBox,
  accountId: string,
  id: string,
): Promise<string> {
  const secret = newWebhookSecret();
  await findAndLockMonitor(client, accountId, id);
  await rotateWebhookSecret(client, id, secretBox.seal(secret, id));
  return secret;
}
