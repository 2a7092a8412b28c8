import { changeAddress } from '../../../shared/accounts/accounts.ts';
import { CODE_SECONDS, hashMailedToken, newSignupToken } from '../../../shared/accounts/rules/credentials.ts';
import {
  createMailboxHash,
  creditedMailboxOf,
  mailboxOf,
  parseEmailAddress,
} from '../../../shared/accounts/rules/mailbox.ts';
import { SealedRecords } from '../../../shared/accounts/sealed-records.ts';
import { deleteSignup } from '../../../shared/accounts/signups.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { addressLeftMail, addressTakenMail, sendSecurityMail } from '../account/security-mails.ts';
import { ApiError, invalidRequest } from '../http/api-error.ts';
import { LEAVE_ADDRESS, TAKE_ADDRESS } from '../signup/code-mail.ts';
import { createCodeChecker, hasTry, checkCode, notifyOfWrongCodes } from '../signup/check-code.ts';
import type { CheckedCode } from '../signup/check-code.ts';
import { acceptableAddress, mailSecret, refuseUndeliverable } from '../signup/request-code.ts';
import { takeCodeLimits } from '../signup/signup-limits.ts';
import type { DashboardDeps } from './dashboard.ts';
import type { PageRequest } from './page.ts';

/** Changes under way, by the id of the session that requested them. */
const MODEL = 'AddressChange';

const recordsOf = ({ pool, secretBox }: DashboardDeps) => new SealedRecords(pool, secretBox);

/**
 * Begins a change of the account's address: mails a code to the old and one to the new address, as sign-up does.
 * Whether another account has the new mailbox is not looked up: only a reader of its mail may learn that.
 *
 * @throws ApiError as sign-up does; too_many_attempts when no code of a mailbox is accepted any more
 */
export async function requestAddressChange(deps: DashboardDeps, request: PageRequest, given: string): Promise<void> {
  const { account, session, clientAddress } = request;
  const { address, domain } = acceptableAddress({ email: given });
  const { id: accountId, email } = account;
  if (address === email) throw invalidRequest([{ field: 'email', message: 'is already the address of this account' }]);
  const old = parseEmailAddress(email)?.address;
  // No mail can be sent to the address of the demo account.
  if (old === undefined) throw new ApiError('invalid_email', 'The address of this account cannot be changed.');
  const { limits } = LEAVE_ADDRESS;
  for (const mailbox of [mailboxOf(address), mailboxOf(old)]) {
    const mailboxHash = createMailboxHash(deps.secretKey)(mailbox);
    await takeCodeLimits(deps.pool, deps.signup, { limits, clientAddress, mailbox, mailboxHash });
    if (await hasTry(deps.pool, mailboxHash)) continue;
    throw new ApiError(
      'too_many_attempts',
      'Too many wrong codes were entered for these addresses. Try again tomorrow.',
    );
  }
  await refuseUndeliverable(deps, domain);
  const [newToken, oldToken] = [newSignupToken(), newSignupToken()];
  // The change, then the mails: a code that arrives is always known.
  const payload = { accountId, email: address, oldEmail: email, newToken, oldToken };
  await recordsOf(deps).put({ model: MODEL, id: session.id, payload, validSeconds: CODE_SECONDS });
  const appUrl = deps.dashboardUrl;
  try {
    await mailSecret(deps, { purpose: TAKE_ADDRESS, address, token: newToken, appUrl });
    await mailSecret(deps, { purpose: LEAVE_ADDRESS, address: old, token: oldToken, appUrl });
  } catch (error) {
    // One code alone is of no use.
    await recordsOf(deps).delete(MODEL, session.id);
    throw error;
  }
}

export async function pendingAddress(deps: DashboardDeps, { session }: PageRequest): Promise<string | undefined> {
  const found = await recordsOf(deps).find(MODEL, session.id);
  return found === undefined ? undefined : String(found.payload.email);
}

export type AddressChangeResult =
  | { outcome: 'changed' }
  /** What is wrong with each code; the change is still under way. */
  | { outcome: 'wrong'; oldProblem: string | undefined; newProblem: string | undefined }
  | { outcome: 'over'; problem: string };

const over = (problem: string): AddressChangeResult => ({ outcome: 'over', problem });

export async function confirmAddressChange(
  deps: DashboardDeps,
  request: PageRequest,
  { oldCode, newCode }: { oldCode: string; newCode: string },
): Promise<AddressChangeResult> {
  const { session } = request;
  const found = await recordsOf(deps).find(MODEL, session.id);
  if (found === undefined) return over('The codes have expired or were already used. Request new ones.');
  const { email = '', oldEmail = '', newToken = '', oldToken = '' } = found.payload as Record<string, string>;
  const [old, next] = await checkBoth(deps, [
    { token: oldToken, code: oldCode, mailbox: mailboxOf(oldEmail) },
    { token: newToken, code: newCode, mailbox: mailboxOf(email) },
  ]);
  for (const result of [old, next]) await notifyOfWrongCodes(deps, result);
  const left = [old, next].map((result) => {
    if (result.outcome === 'right') return Infinity;
    return result.outcome === 'wrong' ? result.triesLeft : 0;
  });
  const areRight = left.every((tries) => tries === Infinity);
  if (!areRight && !left.includes(0)) {
    return { outcome: 'wrong', oldProblem: problemOf(old), newProblem: problemOf(next) };
  }
  await recordsOf(deps).delete(MODEL, session.id);
  return areRight
    ? change(deps, request, { oldEmail, newEmail: email })
    : over('The codes are no longer valid. Request new ones.');
}

interface EnteredCode {
  token: string;
  code: string;
  mailbox: string;
}

/**
 * Checks both codes in one transaction, in the order of their mailboxes, so that concurrent checks cannot deadlock.
 * Right codes are used up together or not at all.
 */
function checkBoth(deps: DashboardDeps, entered: [EnteredCode, EnteredCode]): Promise<[CheckedCode, CheckedCode]> {
  const checker = createCodeChecker(deps, LEAVE_ADDRESS.name);
  return inTransaction(deps.pool, async (client) => {
    const results = new Map<EnteredCode, CheckedCode>();
    for (const one of entered.toSorted((a, b) => (a.mailbox < b.mailbox ? -1 : 1))) {
      results.set(one, await checkCode(client, checker, hashMailedToken(one.token), one.code));
    }
    const areRight = [...results.values()].every(({ outcome }) => outcome === 'right');
    if (areRight) for (const { token } of entered) await deleteSignup(client, hashMailedToken(token));
    return [results.get(entered[0])!, results.get(entered[1])!];
  });
}

function problemOf(result: CheckedCode): string | undefined {
  return result.outcome === 'wrong' ? `is wrong. Tries left: ${result.triesLeft}.` : undefined;
}

/**
 * The codes were used up in an earlier transaction, because the deletion of an account locks the account before its
 * codes. A crash in between leaves the old address, and the person requests new codes.
 */
async function change(
  deps: DashboardDeps,
  { account, session, now }: PageRequest,
  { oldEmail, newEmail }: { oldEmail: string; newEmail: string },
): Promise<AddressChangeResult> {
  const mailboxHash = createMailboxHash(deps.secretKey);
  const outcome = await changeAddress(deps.pool, {
    accountId: account.id,
    oldEmail,
    newEmail,
    newMailbox: mailboxOf(newEmail),
    mailboxHashes: [oldEmail, newEmail].map((email) => mailboxHash(creditedMailboxOf(mailboxOf(email)))),
    keptSessionId: session.id,
  });
  if (outcome === 'taken') return over('Another account already uses the mailbox of the new address.');
  if (outcome === 'outdated') return over('The address was changed in the meantime.');
  const changed = { oldEmail, newEmail, at: new Date(now) };
  const mails = [addressLeftMail, addressTakenMail].map((mailOf) => mailOf(changed, deps.dashboardUrl));
  await Promise.all(mails.map((mail) => sendSecurityMail(deps, mail, 'an address was changed')));
  return { outcome: 'changed' };
}
