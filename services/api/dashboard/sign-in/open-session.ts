import { randomText } from '../../../../shared/domain/identifiers.ts';
import { findAccount } from '../../../../shared/stores/accounts/accounts.ts';
import {
  endLeastUsedDashboardSessions,
  insertDashboardSession,
  isKnownNetwork,
} from '../../../../shared/stores/dashboard/dashboard-sessions.ts';
import { sendNotice } from '../../notices/send-notice.ts';
import { networksOf } from '../../signup/client-network.ts';
import { hashSessionToken } from '../admit-visit.ts';
import { newCookieValue } from '../dashboard-cookies.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import { newSessionMail } from '../../notices/new-session-mail.ts';

export const SESSION_SECONDS = 30 * 86_400;
const ID_LENGTH = 12;
/** Each session has a limit of requests of its own, so more of them would be a way around it. */
const MOST_SESSIONS = 10;
const USER_AGENT_LENGTH = 300;

/** Whose session, and from where. */
export interface NewSession {
  accountId: string;
  /** The address that signed in. */
  email: string;
  /** Whether the sign-in opened the account, which has no other networks to compare with. */
  isNewAccount: boolean;
  clientAddress: string | undefined;
  userAgent: string | undefined;
}

/**
 * Opens a session with a new random value, whatever the browser sent before, and tells the owner when it comes from a
 * network that the account had no session from. The account's eleventh session ends the one that was used longest ago.
 *
 * @returns the value for the cookie; undefined when the account is not active or has another address by now
 */
export async function openSession(deps: DashboardDeps, asked: NewSession): Promise<string | undefined> {
  const token = newCookieValue();
  const [{ network }] = networksOf(asked.clientAddress);
  const userAgent = printable(asked.userAgent ?? '');
  const isKnown = asked.isNewAccount || (await isKnownNetwork(deps.pool, asked.accountId, network));
  const isOpen = await insertDashboardSession(deps.pool, {
    tokenHash: hashSessionToken(token),
    id: `ses_${randomText(ID_LENGTH)}`,
    accountId: asked.accountId,
    email: asked.email,
    network,
    userAgent,
    validSeconds: SESSION_SECONDS,
  });
  if (!isOpen) return undefined;
  await endLeastUsedDashboardSessions(deps.pool, asked.accountId, MOST_SESSIONS);
  if (!isKnown) {
    const account = await findAccount(deps.pool, asked.accountId);
    const what = { network, userAgent, at: new Date(deps.clock()) };
    if (account) await sendNotice(deps, newSessionMail(account.email, what, deps.dashboardUrl), 'a new network');
  }
  return token;
}

function printable(userAgent: string): string {
  return userAgent.replace(/\p{C}/gu, ' ').slice(0, USER_AGENT_LENGTH);
}
