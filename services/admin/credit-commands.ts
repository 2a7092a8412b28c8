import { planOf, isPackPrice } from '../../shared/domain/accounts/plans.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool, PoolClient } from '../../shared/postgres/pool.ts';
import { sqlState } from '../../shared/postgres/postgres-away.ts';
import { credit } from '../../shared/stores/ledger/ledger.ts';
import { givePack, refundPack } from '../../shared/stores/accounts/packs.ts';
import { requireAccount, ACCOUNT_HELP, ACCOUNT_OPTIONS, accountOption } from './accounts/account-choice.ts';
import { AdminError, integerOption } from './command.ts';
import type { PostgresCommand } from './command.ts';
import type { Pack } from '../../shared/domain/accounts/plans.ts';

const REFERENCE_HELP =
  '--reference TEXT       required; the reason; one that was used before is refused, so repeating a command gives nothing twice';
const UNIQUE_VIOLATION = '23505';

const ACCOUNT_GRANT: PostgresCommand = {
  name: 'account grant',
  summary: 'give credits',
  optionsHelp: [...ACCOUNT_HELP, '--credits N            required', REFERENCE_HELP],
  examples: ['account grant --email a@example.com --credits 100 --reference ticket-17'],
  options: { ...ACCOUNT_OPTIONS, credits: { type: 'string' }, reference: { type: 'string' } },
  prepare(values) {
    const named = accountOption(values);
    const credits = integerOption(values, 'credits', { max: MAX_CREDITS });
    const reference = referenceOption(values.reference);
    return async (pool) => {
      const { id: accountId } = await requireAccount(pool, named);
      const balance = await once(pool, reference, (client) =>
        credit(client, { accountId, kind: 'grant', credits, reference }),
      );
      return [{ account_id: accountId, granted: credits, credits: balance }];
    };
  },
};

const ACCOUNT_PACK: PostgresCommand = {
  name: 'account pack',
  summary: 'give a pack: its credits and its limits',
  optionsHelp: [...ACCOUNT_HELP, '--pack 9|29|79         required', REFERENCE_HELP],
  examples: ['account pack --email a@example.com --pack 29 --reference invoice-42'],
  options: { ...ACCOUNT_OPTIONS, pack: { type: 'string' }, reference: { type: 'string' } },
  prepare(values) {
    const named = accountOption(values);
    const pack = packPrice(values.pack, '9, 29 or 79');
    const reference = referenceOption(values.reference);
    return async (pool) => {
      const { id: accountId } = await requireAccount(pool, named);
      const { credits } = planOf(pack);
      const balance = await once(pool, reference, (client) =>
        givePack(client, { id: reference, accountId, pack, credits }),
      );
      return [{ account_id: accountId, pack, granted: credits, credits: balance, reference }];
    };
  },
};

const ACCOUNT_REFUND: PostgresCommand = {
  name: 'account refund',
  summary: 'take a pack back; later credits first pay for those of the pack that were spent',
  optionsHelp: ['--reference TEXT       required; the reference of the pack'],
  examples: ['account refund --reference invoice-42'],
  options: { reference: { type: 'string' } },
  prepare(values) {
    const reference = referenceOption(values.reference);
    return async (pool) => {
      const refunded = await inTransaction(pool, (client) => refundPack(client, reference));
      if (!refunded) throw new AdminError(`--reference: no pack with the reference ${reference} can be taken back.`);
      const { accountId, taken, owed, balance } = refunded;
      return [{ account_id: accountId, taken, owed, credits: balance }];
    };
  },
};

async function once<T>(pool: Pool, reference: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
  try {
    return await inTransaction(pool, work);
  } catch (error) {
    if (sqlState(error) === UNIQUE_VIOLATION) {
      throw new AdminError(`--reference: ${reference} was used before; nothing was given.`);
    }
    throw error;
  }
}

export const MAX_CREDITS = 1_000_000_000;
const MAX_REFERENCE_CHARACTERS = 200;

/**
 * @param choices the packs to choose from, for the message
 * @throws AdminError unless `pack` is a pack's price
 */
export function packPrice(pack: string | undefined, choices: string): Exclude<Pack, 0> {
  const price = /^[1-9]\d?$/.test(pack ?? '') ? Number(pack) : Number.NaN;
  if (!isPackPrice(price) || price === 0) throw new AdminError(`--pack: must be ${choices}.`);
  return price;
}

/**
 * The reference is the idempotency key of a grant: repeating the command gives nothing twice.
 *
 * @throws AdminError
 */
export function referenceOption(reference: string | undefined): string {
  if (reference === undefined) throw new AdminError('--reference is required.');
  if (reference.trim() === '' || reference.length > MAX_REFERENCE_CHARACTERS || /\p{Cc}/u.test(reference)) {
    throw new AdminError(
      `--reference: must have 1 to ${MAX_REFERENCE_CHARACTERS} characters, none of them a control character.`,
    );
  }
  return reference;
}

export const COMMANDS = [ACCOUNT_GRANT, ACCOUNT_PACK, ACCOUNT_REFUND];
