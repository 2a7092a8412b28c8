import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import { newWebhookSecret } from '../../../shared/domain/webhooks/webhook-secret.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { rotateWebhookSecret } from '../../../shared/stores/monitors/monitor-webhooks.ts';
import { findAndLockMonitor } from '../monitors/find-monitor.ts';

/** Sets a new secret and returns it, only this once. @throws ApiError not_found */
export function rotateSecret(
  { pool, secretBox }: { pool: Pool; secretBox: SecretBox },
  accountId: string,
  id: string,
): Promise<string> {
  const secret = newWebhookSecret();
  return inTransaction(pool, async (client) => {
    await findAndLockMonitor(client, accountId, id);
    await rotateWebhookSecret(client, id, secretBox.seal(secret, id));
    return secret;
  });
}
