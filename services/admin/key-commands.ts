import { listAccountGrants, revokeGrant } from '../../shared/accounts/account-grants.ts';
import { issueApiKey, listApiKeys, revokeApiKey } from '../../shared/accounts/api-keys.ts';
import { apiKeyId, grantHashStart, isApiKeyId } from '../../shared/accounts/rules/credentials.ts';
import { SealedRecords } from '../../shared/accounts/sealed-records.ts';
import { secretBoxOf } from '../../shared/maintenance/settings.ts';
import { accountCommand, requireAccount, requireActiveAccount } from './account-commands.ts';
import type { AccountOptions } from './account-commands.ts';
import { AdminError, printedRow, requireSecretKeys } from './command.ts';
import type { AddCommands } from './command.ts';

export const addCommands: AddCommands = (program, { lines, table }) => {
  const key = program.command('key');
  accountCommand(key, 'create', ' --name laptop')
    .description('create another key for an account and print it, which happens only once')
    .option('--name <text>', 'the name shown in lists', 'made by the administrator')
    .action(
      lines(async ({ pool }, options: AccountOptions & { name: string }) => {
        const { id } = await requireActiveAccount(pool, options);
        const made = await issueApiKey(pool, id, options.name);
        return [{ account_id: id, key_id: apiKeyId(made), name: options.name, api_key: made }];
      }),
    );
  accountCommand(key, 'list')
    .description("print an account's active keys, without their secrets")
    .action(
      table(async ({ pool }, options: AccountOptions) => {
        const { id } = await requireAccount(pool, options);
        return (await listApiKeys(pool, id)).map(({ id: key_id, ...rest }) => ({ key_id, ...printedRow(rest) }));
      }),
    );
  accountCommand(key, 'revoke', ' --key 1a2b3c4d')
    .description('revoke a key')
    .requiredOption('--key <key_id>', 'the 8 characters after fk_', keyId)
    .action(
      lines(async ({ pool }, options: AccountOptions & { key: string }) => {
        const { id } = await requireAccount(pool, options);
        if (!(await revokeApiKey(pool, id, options.key)))
          throw new AdminError(`--key: ${id} has no key ${options.key}.`);
        return [{ account_id: id, key_id: options.key, status: 'revoked' }];
      }),
    );
  const grant = program.command('grant');
  accountCommand(grant, 'list')
    .description('print the apps that are connected to an account by sign-in')
    .action(
      table(async ({ pool, config }, options: AccountOptions) => {
        const box = secretBoxOf(await requireSecretKeys(pool, config));
        const { id } = await requireAccount(pool, options);
        const grants = await listAccountGrants(pool, new SealedRecords(pool, box), id);
        return grants.map(({ id: grant_id, clientId, clientName, scopes, grantedAt, lastUsedAt }) => ({
          grant_id,
          ...printedRow({ clientId, clientName, scopes, grantedAt, lastUsedAt }),
        }));
      }),
    );
  accountCommand(grant, 'revoke', ' --grant gra_1a2b3c4d5e6f1a2b3c4d5e6f')
    .description('disconnect an app: revoke all its tokens')
    .requiredOption('--grant <grant_id>', 'a grant_id from grant list', grantId)
    .action(
      lines(async ({ pool }, options: AccountOptions & { grant: string }) => {
        const { id } = await requireAccount(pool, options);
        if (await revokeGrant(pool, id, options.grant)) {
          return [{ account_id: id, grant_id: options.grant, status: 'revoked' }];
        }
        throw new AdminError(`--grant: ${id} has no grant ${options.grant}.`);
      }),
    );
};

function keyId(text: string): string {
  if (!isApiKeyId(text)) throw new AdminError('--key: must be the 8 characters after fk_, not the whole key.');
  return text;
}

function grantId(text: string): string {
  if (grantHashStart(text) === undefined) throw new AdminError('--grant: must be a grant_id from grant list.');
  return text;
}
