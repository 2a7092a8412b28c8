import { createMailboxHash, creditedMailboxOf } from '../../shared/accounts/rules/mailbox.ts';
import { copyCreditedMailboxes, readMailboxes, SEALED_COLUMNS } from '../../shared/maintenance/sealed-columns.ts';
import type { SealedColumn } from '../../shared/maintenance/sealed-columns.ts';
import type { SecretKeys } from '../../shared/maintenance/settings.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { createSecretBox } from '../../shared/rules/secret-box.ts';
import type { SecretBox } from '../../shared/rules/secret-box.ts';
import { AdminError, examples, requireSecretKeys } from './command.ts';
import type { AddCommands, Installation } from './command.ts';

const PAGE = 500;

export const addCommands: AddCommands = (program, { lines }) => {
  program
    .command('secrets')
    .command('reseal')
    .description(
      're-encrypt all secrets of SECRET_KEY_PREVIOUS, or the generated key, with SECRET_KEY; services can keep running',
    )
    .addHelpText('after', examples('secrets reseal'))
    .action(lines(reseal));
};

async function* reseal({ pool, config }: Installation): AsyncIterable<object> {
  const keys = await requireSecretKeys(pool, config);
  if (keys.previousKeys.length === 0) {
    throw new AdminError('SECRET_KEY_PREVIOUS: set it to the previous key; there is no other key to reseal from.');
  }
  let unreadable = 0;
  for (const column of SEALED_COLUMNS) {
    const done = await resealColumn(pool, column, keys);
    unreadable += done.unreadable;
    yield done;
  }
  yield { column: 'credited_mailboxes.mailbox_hash', added: await rehashMailboxes(pool, keys) };
  if (unreadable > 0) {
    throw new AdminError(
      `${unreadable} values were sealed with a third key. Set SECRET_KEY_PREVIOUS to it and run the command again.`,
    );
  }
}

interface Resealed {
  column: string;
  resealed: number;
  /** Values that no key opens. */
  unreadable: number;
}

/**
 * Seals with the present key what a previous one sealed. A value that somebody changes meanwhile is left as they wrote
 * it. Repeating it, also at the same time, is harmless; after a kill the next run does the rest.
 */
async function resealColumn(
  pool: Pool,
  column: SealedColumn,
  { secretKey, previousKeys }: SecretKeys,
): Promise<Resealed> {
  const [present, former] = [createSecretBox(secretKey), createSecretBox(previousKeys[0]!, previousKeys.slice(1))];
  const done: Resealed = { column: column.name, resealed: 0, unreadable: 0 };
  let after: unknown;
  for (;;) {
    const { values, last } = await column.page(pool, after, PAGE);
    if (values.length === 0) return done;
    for (const value of values) {
      const { context, sealed } = value;
      if (openedBy(present, sealed, context) !== undefined) continue;
      const secret = openedBy(former, sealed, context);
      if (secret === undefined) done.unreadable += 1;
      else if (await value.replace(pool, present.seal(secret, context))) done.resealed += 1;
    }
    after = last;
  }
}

/**
 * Remembers under the present key which mailboxes had their free credits. Those of deleted accounts are known by their
 * hashes alone, which stay under the key of their time.
 */
async function rehashMailboxes(pool: Pool, { secretKey, previousKeys }: SecretKeys): Promise<number> {
  const hashes = [secretKey, ...previousKeys].map((key) => createMailboxHash(key));
  let added = 0;
  for (let after: string | undefined = ''; after !== undefined;) {
    const accounts = await readMailboxes(pool, after, PAGE);
    for (const former of hashes.slice(1)) {
      const forms = [...new Set(accounts.flatMap(({ mailbox }) => [creditedMailboxOf(mailbox), mailbox]))];
      const pairs = forms.map((form) => ({ former: former(form), present: hashes[0]!(form) }));
      added += await copyCreditedMailboxes(pool, pairs);
    }
    after = accounts.at(-1)?.id;
  }
  return added;
}

function openedBy(box: SecretBox, sealed: Buffer, context: string): string | undefined {
  try {
    return box.open(sealed, context);
  } catch {
    return undefined;
  }
}
