import { apiKeyId, isApiKeyId } from '../../shared/domain/accounts/api-key.ts';
import { issueApiKey, listApiKeys, revokeApiKey } from '../../shared/stores/accounts/api-keys.ts';
import { foundAccount, WHICH_HELP, WHICH_OPTIONS, whichAccount } from './account-choice.ts';
import { AdminError } from './admin-error.ts';
import type { Command } from './command.ts';

const DEFAULT_NAME = 'made by the administrator';

export const KEY_CREATE: Command = {
  name: 'key create',
  summary: 'make another key of an account and print it, this once',
  optionsHelp: [...WHICH_HELP, `--name TEXT            for lists, default "${DEFAULT_NAME}"`],
  options: { ...WHICH_OPTIONS, name: { type: 'string' } },
  prepare(values) {
    const which = whichAccount(values);
    const name = values.name ?? DEFAULT_NAME;
    return async (pool) => {
      const { id, status } = await foundAccount(pool, which);
      if (status !== 'active') throw new AdminError(`${which.given} is ${status}; a key of it would be refused.`);
      const key = await issueApiKey(pool, id, name);
      return [{ account_id: id, key_id: apiKeyId(key), name, api_key: key }];
    };
  },
};

export const KEY_LIST: Command = {
  name: 'key list',
  summary: "print an account's keys that are in use, without their secrets",
  optionsHelp: WHICH_HELP,
  options: WHICH_OPTIONS,
  prepare(values) {
    const which = whichAccount(values);
    return async (pool) => {
      const { id } = await foundAccount(pool, which);
      return (await listApiKeys(pool, id)).map(({ id: key_id, ...key }) => ({ key_id, ...key }));
    };
  },
};

export const KEY_REVOKE: Command = {
  name: 'key revoke',
  summary: 'refuse a key from now on',
  optionsHelp: [...WHICH_HELP, '--key KEY_ID           required; the 8 characters after fk_'],
  options: { ...WHICH_OPTIONS, key: { type: 'string' } },
  prepare(values) {
    const which = whichAccount(values);
    const key = values.key ?? '';
    if (!isApiKeyId(key)) throw new AdminError('--key: must be the 8 characters after fk_, not the whole key.');
    return async (pool) => {
      const { id } = await foundAccount(pool, which);
      if (!(await revokeApiKey(pool, id, key))) throw new AdminError(`--key: ${which.given} has no key ${key} in use.`);
      return [{ account_id: id, key_id: key, status: 'revoked' }];
    };
  },
};
