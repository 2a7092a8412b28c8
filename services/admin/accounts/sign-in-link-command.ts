import {
  CODE_SECONDS,
  hashMailedToken,
  newLinkToken,
  newSignupToken,
} from '../../../shared/domain/accounts/mailed-tokens.ts';
import type { Config } from '../../../shared/runtime/config.ts';
import { readEndpoints } from '../../../shared/runtime/endpoints-file.ts';
import { insertSignup } from '../../../shared/stores/accounts/signups.ts';
import { ACCOUNT_HELP, ACCOUNT_OPTIONS, accountOption, requireAccount } from './account-choice.ts';
import { AdminError } from '../admin-error.ts';
import type { PostgresCommand } from '../command.ts';

export const ACCOUNT_SIGN_IN_LINK: PostgresCommand = {
  name: 'account sign-in-link',
  summary: 'print a link that signs in to the dashboard as this account, once, within 10 minutes',
  optionsHelp: ACCOUNT_HELP,
  examples: ['account sign-in-link --email demo@localhost'],
  options: ACCOUNT_OPTIONS,
  prepare(values) {
    const named = accountOption(values);
    return async (pool, config) => {
      const { id, email, mailbox, status } = await requireAccount(pool, named);
      if (status !== 'active') throw new AdminError(`${named.option}: ${named.given} is ${status}.`);
      const link = newLinkToken();
      await insertSignup(pool, {
        tokenHash: hashMailedToken(newSignupToken()),
        purpose: 'dashboard',
        email,
        mailbox,
        secret: { linkHash: hashMailedToken(link) },
        interaction: undefined,
        validSeconds: CODE_SECONDS,
      });
      return [{ account_id: id, url: `${dashboardOf(config)}/dashboard/sign-in/link?token=${link}` }];
    };
  },
};

/** Without a DASHBOARD_URL of its own, a running installation may listen on another port than this process would. */
function dashboardOf({ http, dataDir }: Config): string {
  const isDefault = http.dashboardUrl === `http://localhost:${http.port}`;
  const api = isDefault ? readEndpoints(dataDir)?.api : undefined;
  return api === undefined ? http.dashboardUrl : `http://localhost:${new URL(api).port}`;
}
