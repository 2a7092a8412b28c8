import type { Pool } from '../../../shared/postgres/pool.ts';
import { SEALED_COLUMNS } from '../../../shared/stores/upkeep/sealed-columns.ts';
import type { SecretKeys } from '../../../shared/stores/upkeep/secret-keys.ts';
import { AdminError } from '../admin-error.ts';
import type { PostgresCommand } from '../command.ts';
import { requireSecretKeys } from '../required-keys.ts';
import { rehashMailboxes, resealColumn } from './reseal.ts';

export const SECRETS_RESEAL: PostgresCommand = {
  name: 'secrets reseal',
  summary: 'seal everything with SECRET_KEY that SECRET_KEY_PREVIOUS, or the generated key, sealed; services may run',
  optionsHelp: [],
  examples: ['secrets reseal'],
  options: {},
  prepare: () => async (pool, config) => {
    const keys = await requireSecretKeys(pool, config);
    if (keys.previousKeys.length === 0) {
      throw new AdminError(
        'SECRET_KEY_PREVIOUS: set it to the key before SECRET_KEY; there is no other to reseal from.',
      );
    }
    return reseal(pool, keys);
  },
};

async function* reseal(pool: Pool, keys: SecretKeys): AsyncIterable<object> {
  let unreadable = 0;
  for (const column of SEALED_COLUMNS) {
    const done = await resealColumn(pool, column, keys);
    unreadable += done.unreadable;
    yield done;
  }
  yield { column: 'credited_mailboxes.mailbox_hash', added: await rehashMailboxes(pool, keys) };
  if (unreadable > 0) {
    throw new AdminError(
      `${unreadable} values were sealed with a third key: set it as SECRET_KEY_PREVIOUS and repeat.`,
    );
  }
}
