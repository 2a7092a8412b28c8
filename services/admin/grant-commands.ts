import { createSecretBox } from '../../shared/domain/secret-box.ts';
import { grantHashStart } from '../../shared/domain/accounts/oauth-secret.ts';
import { listAccountGrants, revokeGrant } from '../../shared/stores/accounts/account-grants.ts';
import { SealedRecords } from '../../shared/stores/accounts/sealed-records.ts';
import { findSecretKey } from '../../shared/stores/upkeep/settings.ts';
import { foundAccount, WHICH_HELP, WHICH_OPTIONS, whichAccount } from './account-choice.ts';
import { AdminError } from './admin-error.ts';
import type { Command } from './command.ts';

export const GRANT_LIST: Command = {
  name: 'grant list',
  summary: 'print the programs that an account allowed something, by the sign-in for the tool server',
  optionsHelp: WHICH_HELP,
  options: WHICH_OPTIONS,
  prepare(values) {
    const which = whichAccount(values);
    return async (pool, config) => {
      const secretKey = config.secretKey ?? (await findSecretKey(pool));
      if (secretKey === undefined) throw new AdminError('Set SECRET_KEY to the one that the service runs with.');
      const { id } = await foundAccount(pool, which);
      const grants = await listAccountGrants(pool, new SealedRecords(pool, createSecretBox(secretKey)), id);
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

export const GRANT_REVOKE: Command = {
  name: 'grant revoke',
  summary: 'refuse all tokens of a program from now on',
  optionsHelp: [...WHICH_HELP, '--grant GRANT_ID       required; gra_… as grant list prints it'],
  options: { ...WHICH_OPTIONS, grant: { type: 'string' } },
  prepare(values) {
    const which = whichAccount(values);
    const grant = values.grant ?? '';
    if (grantHashStart(grant) === undefined) throw new AdminError('--grant: must be a grant_id of grant list.');
    return async (pool) => {
      const { id } = await foundAccount(pool, which);
      if (!(await revokeGrant(pool, id, grant))) throw new AdminError(`--grant: ${which.given} has no grant ${grant}.`);
      return [{ account_id: id, grant_id: grant, status: 'revoked' }];
    };
  },
};
