import { grantHashStart } from '../../shared/domain/accounts/oauth-secret.ts';
import { listAccountGrants, revokeGrant } from '../../shared/stores/accounts/account-grants.ts';
import { SealedRecords } from '../../shared/stores/accounts/sealed-records.ts';
import { secretBoxOf } from '../../shared/stores/upkeep/secret-keys.ts';
import { requireAccount, ACCOUNT_HELP, ACCOUNT_OPTIONS, accountOption } from './accounts/account-choice.ts';
import { AdminError } from './admin-error.ts';
import type { PostgresCommand } from './command.ts';
import { requireSecretKeys } from './required-keys.ts';

export const GRANT_LIST: PostgresCommand = {
  name: 'grant list',
  summary: 'print the programs that an account gave access to the tool server',
  optionsHelp: ACCOUNT_HELP,
  examples: ['grant list --email a@example.com'],
  isList: true,
  options: ACCOUNT_OPTIONS,
  prepare(values) {
    const named = accountOption(values);
    return async (pool, config) => {
      const box = secretBoxOf(await requireSecretKeys(pool, config));
      const { id } = await requireAccount(pool, named);
      const grants = await listAccountGrants(pool, new SealedRecords(pool, box), id);
      return grants.map((grant) => ({
        grant_id: grant.id,
        client_id: grant.clientId,
        client_name: grant.clientName,
        scopes: grant.scopes,
        granted_at: grant.grantedAt,
        last_used_at: grant.lastUsedAt,
      }));
    };
  },
};

export const GRANT_REVOKE: PostgresCommand = {
  name: 'grant revoke',
  summary: 'refuse all tokens of a program from now on',
  optionsHelp: [...ACCOUNT_HELP, '--grant GRANT_ID       required; a grant_id that grant list prints'],
  examples: ['grant revoke --email a@example.com --grant GRANT_ID'],
  options: { ...ACCOUNT_OPTIONS, grant: { type: 'string' } },
  prepare(values) {
    const named = accountOption(values);
    const grant = values.grant ?? '';
    if (grantHashStart(grant) === undefined)
      throw new AdminError('--grant: must be a grant_id that grant list prints.');
    return async (pool) => {
      const { id } = await requireAccount(pool, named);
      if (!(await revokeGrant(pool, id, grant))) throw new AdminError(`--grant: ${named.given} has no grant ${grant}.`);
      return [{ account_id: id, grant_id: grant, status: 'revoked' }];
    };
  },
};
