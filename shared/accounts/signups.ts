import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readOne, readRow } from '../postgres/sql.ts';

/** What a mail is for. A code or link for one purpose is not valid for another. */
export type MailPurpose = 'signup' | 'signin' | 'recovery' | 'dashboard' | 'address';

export interface NewSignup {
  /** SHA-256 of the token that the client has. */
  tokenHash: Uint8Array;
  purpose: MailPurpose;
  /** The address that mail is sent to. */
  email: string;
  mailbox: string;
  /** The secret in the mail: a code or a link. */
  secret: { codeHash: Uint8Array } | { linkHash: Uint8Array };
  /** For a sign-in: the page that a link returns to. */
  interaction: string | undefined;
  validSeconds: number;
}

/** A mailbox whose owner proved that they can read its mail. */
export interface ConfirmedMailbox {
  email: string;
  mailbox: string;
}

export interface LockedSignup extends ConfirmedMailbox {
  /** null when a link was mailed. */
  codeHash: Buffer | null;
  wrongCodes: number;
  expired: boolean;
}

export async function insertSignup(db: Queryable, signup: NewSignup): Promise<void> {
  const { secret } = signup;
  await execute(db)`
    INSERT INTO signups (token_hash, purpose, email, mailbox, code_hash, link_hash, interaction, expires_at)
    VALUES (${signup.tokenHash}, ${signup.purpose}, ${signup.email}, ${signup.mailbox},
      ${'codeHash' in secret ? secret.codeHash : null}, ${'linkHash' in secret ? secret.linkHash : null},
      ${signup.interaction ?? null}, service_now() + make_interval(secs => ${signup.validSeconds}))`;
}

/**
 * Marks a link as used. Of concurrent callers exactly one succeeds.
 *
 * @returns undefined when the link was used before, has expired, or is unknown for this purpose
 */
export async function takeLink(
  db: Queryable,
  linkHash: Uint8Array,
  purpose: MailPurpose,
): Promise<(ConfirmedMailbox & { interaction: string | null }) | undefined> {
  return readRow<ConfirmedMailbox & { interaction: string | null }>(db)`
    UPDATE signups SET link_used_at = service_now()
    WHERE link_hash = ${linkHash} AND purpose = ${purpose} AND link_used_at IS NULL AND expires_at > service_now()
    RETURNING email, mailbox, interaction`;
}

export async function deleteSignup(db: Queryable, tokenHash: Uint8Array): Promise<void> {
  await execute(db)`DELETE FROM signups WHERE token_hash = ${tokenHash}`;
}

/**
 * Locks a sign-up, so that codes of one token are checked one at a time.
 *
 * @returns undefined when no sign-up of this purpose has the token, or it expired more than an hour ago
 */
export async function lockSignup(
  db: Queryable,
  tokenHash: Uint8Array,
  purpose: MailPurpose,
): Promise<LockedSignup | undefined> {
  return readRow<LockedSignup>(db)`
    SELECT email, mailbox, code_hash AS "codeHash", wrong_codes AS "wrongCodes", expires_at <= service_now() AS expired
    FROM signups
    WHERE token_hash = ${tokenHash} AND purpose = ${purpose} AND expires_at > service_now() - interval '1 hour'
    FOR UPDATE`;
}

/** Of a sign-up that this transaction has locked. Returns how many there are now. */
export async function countWrongCode(db: Queryable, tokenHash: Uint8Array): Promise<number> {
  const { wrongCodes } = await readOne<LockedSignup>(db)`
    UPDATE signups SET wrong_codes = wrong_codes + 1 WHERE token_hash = ${tokenHash}
    RETURNING wrong_codes AS "wrongCodes"`;
  return wrongCodes;
}

/** By any of its hashes. */
export async function isCreditedMailbox(db: Queryable, mailboxHashes: readonly Uint8Array[]): Promise<boolean> {
  return (await execute(db)`SELECT FROM credited_mailboxes WHERE mailbox_hash = ANY (${mailboxHashes})`) > 0;
}

/**
 * Records that a mailbox gets its free credits. Waits for a concurrent record of the same mailbox.
 *
 * @param credited hash of the form for which credits are given once
 * @param mailbox hash of the mailbox itself, which may be the same
 * @returns false when it got them before
 */
export async function recordCreditedMailboxes(
  db: Queryable,
  credited: Uint8Array,
  mailbox: Uint8Array,
): Promise<boolean> {
  const insert = (hash: Uint8Array) =>
    isChanged(db)`INSERT INTO credited_mailboxes (mailbox_hash) VALUES (${hash}) ON CONFLICT DO NOTHING`;
  const isFirst = await insert(credited);
  if (isFirst) await insert(mailbox);
  return isFirst;
}

/**
 * Makes a new account owe what deleted accounts of its mailbox owed.
 *
 * @param mailboxHashes every hash of the mailbox
 */
export async function takeOverDebts(
  db: Queryable,
  accountId: string,
  mailboxHashes: readonly Uint8Array[],
): Promise<void> {
  await execute(db)`
    WITH debts AS MATERIALIZED (
      SELECT mailbox_hash, owed FROM credited_mailboxes
      WHERE mailbox_hash = ANY (${mailboxHashes}) AND owed > 0
      ORDER BY mailbox_hash
      FOR UPDATE
    ), taken AS (
      UPDATE credited_mailboxes SET owed = 0 FROM debts WHERE credited_mailboxes.mailbox_hash = debts.mailbox_hash
    )
    UPDATE accounts SET owed = accounts.owed + due.owed
    FROM (SELECT sum(owed) AS owed FROM debts) AS due
    WHERE id = ${accountId} AND due.owed > 0`;
}
