import { creditedMailboxOf } from '../../../../shared/domain/accounts/credited-mailbox.ts';
import { parseEmailAddress } from '../../../../shared/domain/accounts/email-address.ts';
import type { EmailAddress } from '../../../../shared/domain/accounts/email-address.ts';
import { createMailboxHash } from '../../../../shared/domain/accounts/mailbox-hash.ts';
import type { MailboxHash } from '../../../../shared/domain/accounts/mailbox-hash.ts';
import { CODE_SECONDS, hashMailedToken, newSignupToken } from '../../../../shared/domain/accounts/mailed-tokens.ts';
import { mailboxOf } from '../../../../shared/domain/accounts/mailbox.ts';
import { inTransaction } from '../../../../shared/postgres/pool.ts';
import { changeAddress } from '../../../../shared/stores/accounts/change-address.ts';
import { SealedRecords } from '../../../../shared/stores/accounts/sealed-records.ts';
import { deleteSignup, insertSignup } from '../../../../shared/stores/accounts/signups.ts';
import { ApiError } from '../../http/api-error.ts';
import { invalidRequest } from '../../http/invalid-request.ts';
import { addressLeftMail, addressTakenMail } from '../../notices/account-mails.ts';
import { sendNotice } from '../../notices/send-notice.ts';
import { codeMail, LEAVE_ADDRESS, TAKE_ADDRESS } from '../../signup/code-mail.ts';
import type { CodePurpose } from '../../signup/code-mail.ts';
import {
  createCodeHashes,
  createCodeJudge,
  hasTry,
  judgeCode,
  newCode,
  notifyOfWrongCodes,
} from '../../signup/judge-code.ts';
import type { CodeVerdict } from '../../signup/judge-code.ts';
import { acceptableAddress, refuseUndeliverable, sendOrDelete } from '../../signup/request-code.ts';
import { takeCodeLimits } from '../../signup/signup-limits.ts';
import type { DashboardDeps } from '../dashboard.ts';
import type { Visit } from '../page.ts';

/** Changes under way, by the id of the session that asked for them. */
const MODEL = 'AddressChange';

/** Who changes the address. */
type AddressOwner = Pick<Visit, 'account' | 'session' | 'clientAddress'>;

export type AddressVerdict =
  | { outcome: 'changed' }
  /** What is wrong with each code; the change is still under way. */
  | { outcome: 'wrong'; oldProblem: string | undefined; newProblem: string | undefined }
  /** The change is over, and why. */
  | { outcome: 'over'; problem: string };

export interface AddressChanges {
  /**
   * Mails a code to the old and one to the new address. Whether another account has the new mailbox is not looked up:
   * only who reads its mail may know.
   *
   * @throws ApiError as sign-up does
   */
  request(owner: AddressOwner, newEmail: string): Promise<void>;
  /** The new address of the change that this session has under way. */
  pending(sessionId: string): Promise<string | undefined>;
  confirm(owner: AddressOwner, oldCode: string, newCode: string): Promise<AddressVerdict>;
}

/** A code that was mailed for a change. */
interface MailedCode {
  purpose: CodePurpose;
  address: string;
  token: string;
}

/** A change of the account's address, confirmed with codes at both addresses by the rules of sign-up. */
export function createAddressChanges(deps: DashboardDeps): AddressChanges {
  const records = new SealedRecords(deps.pool, deps.secretBox);
  const mailboxHash = createMailboxHash(deps.secretKey);
  return {
    async request(owner, given) {
      const next = acceptableAddress({ email: given });
      const { id: accountId, email } = owner.account;
      if (next.address === email) throw invalidRequest([{ field: 'email', message: 'is the address of this account' }]);
      const old = mailableAddress(email);
      for (const { address } of [next, old]) await takeLimits(deps, owner, mailboxOf(address), mailboxHash);
      await refuseUndeliverable(deps, next.domain);
      const codes: MailedCode[] = [
        { purpose: TAKE_ADDRESS, address: next.address, token: newSignupToken() },
        { purpose: LEAVE_ADDRESS, address: old.address, token: newSignupToken() },
      ];
      // The change, then the mails: a code that arrives is always known.
      const [newToken, oldToken] = codes.map(({ token }) => token);
      const payload = { accountId, email: next.address, oldEmail: email, newToken, oldToken };
      await records.put({ model: MODEL, id: owner.session.id, payload, validSeconds: CODE_SECONDS });
      try {
        for (const code of codes) await mailCode(deps, code);
      } catch (error) {
        // One code alone is of no use.
        await records.delete(MODEL, owner.session.id);
        throw error;
      }
    },
    async pending(sessionId) {
      const found = await records.find(MODEL, sessionId);
      return found === undefined ? undefined : String(found.payload.email);
    },
    async confirm(owner, oldCode, newCode) {
      const found = await records.find(MODEL, owner.session.id);
      if (found === undefined)
        return { outcome: 'over', problem: 'The codes are too old, or were used. Ask for new ones.' };
      const { email, oldEmail, newToken, oldToken } = found.payload as Record<string, string>;
      const verdicts = await judgeBoth(deps, [
        { field: 'old', token: oldToken!, code: oldCode, mailbox: mailboxOf(oldEmail!) },
        { field: 'new', token: newToken!, code: newCode, mailbox: mailboxOf(email!) },
      ]);
      for (const verdict of verdicts.values()) await notifyOfWrongCodes(deps, verdict);
      const verdict = verdictOf(verdicts);
      if (verdict !== undefined) {
        if (verdict.outcome === 'over') await records.delete(MODEL, owner.session.id);
        return verdict;
      }
      await records.delete(MODEL, owner.session.id);
      return change(deps, owner, { oldEmail: oldEmail!, newEmail: email!, mailboxHash });
    },
  };
}

/** The demo account's address is none that mail could be sent to. */
function mailableAddress(email: string): EmailAddress {
  const parsed = parseEmailAddress(email);
  if (parsed === undefined) throw new ApiError('invalid_email', 'The address of this account cannot be changed.');
  return parsed;
}

/** @throws ApiError rate_limited, agent_signup_busy; too_many_attempts when no code of the mailbox would be judged */
async function takeLimits(
  deps: DashboardDeps,
  { clientAddress }: AddressOwner,
  mailbox: string,
  mailboxHash: MailboxHash,
): Promise<void> {
  const hash = mailboxHash(mailbox);
  const { limits } = LEAVE_ADDRESS;
  await takeCodeLimits(deps.pool, deps.signup, { limits, clientAddress, mailbox, mailboxHash: hash });
  if (!(await hasTry(deps.pool, hash))) {
    throw new ApiError('too_many_attempts', 'Too many wrong codes were tried for these addresses. Try again tomorrow.');
  }
}

async function mailCode(deps: DashboardDeps, { purpose, address, token }: MailedCode): Promise<void> {
  const tokenHash = hashMailedToken(token);
  const code = newCode();
  await insertSignup(deps.pool, {
    tokenHash,
    purpose: purpose.name,
    email: address,
    mailbox: mailboxOf(address),
    secret: { codeHash: createCodeHashes(deps.secretKey).hash(tokenHash, code) },
    interaction: undefined,
    validSeconds: CODE_SECONDS,
  });
  await sendOrDelete(deps, tokenHash, codeMail(address, code, deps.dashboardUrl, purpose));
}

interface EnteredCode {
  field: 'old' | 'new';
  token: string;
  code: string;
  mailbox: string;
}

type Verdicts = ReadonlyMap<EnteredCode['field'], CodeVerdict>;

/**
 * Judges both codes in one transaction, in the order of their mailboxes, which everybody who judges two keeps to. Right
 * codes are used up together or not at all.
 */
function judgeBoth(deps: DashboardDeps, entered: readonly EnteredCode[]): Promise<Verdicts> {
  const judge = createCodeJudge(deps, LEAVE_ADDRESS.name);
  return inTransaction(deps.pool, async (client) => {
    const verdicts = new Map<EnteredCode['field'], CodeVerdict>();
    for (const { field, token, code } of entered.toSorted((a, b) => (a.mailbox < b.mailbox ? -1 : 1))) {
      verdicts.set(field, await judgeCode(client, judge, hashMailedToken(token), code));
    }
    const areRight = [...verdicts.values()].every(({ outcome }) => outcome === 'right');
    if (areRight) for (const { token } of entered) await deleteSignup(client, hashMailedToken(token));
    return verdicts;
  });
}

/** Undefined when both codes are right. */
function verdictOf(verdicts: Verdicts): AddressVerdict | undefined {
  const left = [...verdicts.values()].map((verdict) => {
    if (verdict.outcome === 'right') return Infinity;
    return verdict.outcome === 'wrong' ? verdict.triesLeft : 0;
  });
  if (left.every((tries) => tries === Infinity)) return undefined;
  if (left.includes(0)) return { outcome: 'over', problem: 'The codes are no longer accepted. Ask for new ones.' };
  return { outcome: 'wrong', oldProblem: problemOf(verdicts.get('old')), newProblem: problemOf(verdicts.get('new')) };
}

function problemOf(verdict: CodeVerdict | undefined): string | undefined {
  return verdict?.outcome === 'wrong' ? `is wrong. Tries left: ${verdict.triesLeft}.` : undefined;
}

/**
 * The codes are used up by now, in a transaction of their own: the deletion of an account locks the account before its
 * codes. A crash in between leaves the old address, and the person asks for new codes.
 */
async function change(
  deps: DashboardDeps,
  { account, session }: AddressOwner,
  { oldEmail, newEmail, mailboxHash }: { oldEmail: string; newEmail: string; mailboxHash: (mailbox: string) => Buffer },
): Promise<AddressVerdict> {
  const outcome = await changeAddress(deps.pool, {
    accountId: account.id,
    oldEmail,
    newEmail,
    newMailbox: mailboxOf(newEmail),
    mailboxHashes: [oldEmail, newEmail].map((email) => mailboxHash(creditedMailboxOf(mailboxOf(email)))),
    keptSessionId: session.id,
  });
  if (outcome === 'taken') return { outcome: 'over', problem: 'Another account has the mailbox of the new address.' };
  if (outcome === 'outdated') return { outcome: 'over', problem: 'The address was changed meanwhile.' };
  const changed = { oldEmail, newEmail, at: new Date(deps.clock()) };
  await Promise.all([
    sendNotice(deps, addressLeftMail(changed, deps.dashboardUrl), 'an address was changed'),
    sendNotice(deps, addressTakenMail(changed, deps.dashboardUrl), 'an address was changed'),
  ]);
  return { outcome: 'changed' };
}
