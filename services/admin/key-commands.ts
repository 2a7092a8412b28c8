import { apiKeyId, isApiKeyId } from '../../shared/domain/accounts/api-key.ts';
import { issueApiKey, listApiKeys, revokeApiKey } from '../../shared/stores/accounts/api-keys.ts';
import { requireAccount, ACCOUNT_HELP, ACCOUNT_OPTIONS, accountOption } from './accounts/account-choice.ts';
import { AdminError, printedRow, requireSecretKeys } from './command.ts';
import type { PostgresCommand } from './command.ts';
import { grantHashStart } from '../../shared/domain/accounts/oauth-secret.ts';
import { listAccountGrants, revokeGrant } from '../../shared/stores/accounts/account-grants.ts';
import { SealedRecords } from '../../shared/stores/accounts/sealed-records.ts';
import { secretBoxOf } from '../../shared/stores/upkeep/secret-keys.ts';

const DEFAULT_NAME = 'made by the administrator';

const KEY_CREATE: PostgresCommand = {
  name: 'key create',
  summary: 'create another key for an account and print it, only once',
  optionsHelp: [...ACCOUNT_HELP, `--name TEXT            shown in lists, default "${DEFAULT_NAME}"`],
  examples: ['key create --email a@example.com --name laptop'],
  options: { ...ACCOUNT_OPTIONS, name: { type: 'string' } },
  prepare(values) {
    const named = accountOption(values);
    const name = values.name ?? DEFAULT_NAME;
    return async (pool) => {
      const { id, status } = await requireAccount(pool, named);
      if (status !== 'active') throw new AdminError(`${named.given} is ${status}; its keys are refused.`);
      const key = await issueApiKey(pool, id, name);
      return [{ account_id: id, key_id: apiKeyId(key), name, api_key: key }];
    };
  },
};

const KEY_LIST: PostgresCommand = {
  name: 'key list',
  summary: "print an account's active keys, without their secrets",
  optionsHelp: ACCOUNT_HELP,
  examples: ['key list --email a@example.com'],
  isList: true,
  options: ACCOUNT_OPTIONS,
  prepare(values) {
    const named = accountOption(values);
    return async (pool) => {
      const { id } = await requireAccount(pool, named);
      return (await listApiKeys(pool, id)).map(({ id: key_id, ...key }) => ({ key_id, ...printedRow(key) }));
    };
  },
};

const KEY_REVOKE: PostgresCommand = {
  name: 'key revoke',
  summary: 'refuse a key from now on',
  optionsHelp: [...ACCOUNT_HELP, '--key KEY_ID           required; the 8 characters after fk_'],
  examples: ['key revoke --email a@example.com --key 1a2b3c4d'],
  options: { ...ACCOUNT_OPTIONS, key: { type: 'string' } },
  prepare(values) {
    const named = accountOption(values);
    const key = values.key ?? '';
    if (!isApiKeyId(key)) throw new AdminError('--key: must be the 8 characters after fk_, not the whole key.');
    return async (pool) => {
      const { id } = await requireAccount(pool, named);
      if (!(await revokeApiKey(pool, id, key))) throw new AdminError(`--key: ${named.given} has no key ${key}.`);
      return [{ account_id: id, key_id: key, status: 'revoked' }];
    };
  },
};

const GRANT_LIST: PostgresCommand = {
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

const GRANT_REVOKE: PostgresCommand = {
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

export const COMMANDS = [KEY_CREATE, KEY_LIST, KEY_REVOKE, GRANT_LIST, GRANT_REVOKE];
