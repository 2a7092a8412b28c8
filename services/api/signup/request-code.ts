import { signupBody } from '../../../schemas/api/signup.ts';
import { parseEmailAddress } from '../../../shared/domain/accounts/email-address.ts';
import type { EmailAddress } from '../../../shared/domain/accounts/email-address.ts';
import { createMailboxHash } from '../../../shared/domain/accounts/mailbox-hash.ts';
import { mailboxOf } from '../../../shared/domain/accounts/mailbox.ts';
import { MailError } from '../../../shared/mail/mail-error.ts';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { deleteSignup, insertSignup } from '../../../shared/stores/accounts/signups.ts';
import type { NewSignup } from '../../../shared/stores/accounts/signups.ts';
import { ApiError } from '../http/api-error.ts';
import { parseRequest } from '../http/invalid-request.ts';
import { codeMail, linkMail } from './code-mail.ts';
import type { CodePurpose } from './code-mail.ts';
import { createDisposableCheck } from './disposable-domains.ts';
import type { DisposableCheck } from './disposable-domains.ts';
import { takeCodeLimits } from './signup-limits.ts';
import {
  CODE_SECONDS,
  hashMailedToken,
  newLinkToken,
  newSignupToken,
} from '../../../shared/domain/accounts/mailed-tokens.ts';
import { createCodeHashes, newCode } from './signup-secrets.ts';
import type { CodeHashes } from './signup-secrets.ts';
import type { SignupDeps } from './signup-deps.ts';
import { hasTry } from './wrong-codes.ts';

/** Seconds until another try at mailing makes sense. */
const MAIL_RETRY_AFTER = 60;

/**
 * Mails a code to the address in a body, or a link when its tries of codes are used up.
 *
 * @returns the token that belongs to the code
 */
export type RequestCode = (
  body: unknown,
  clientAddress: string | undefined,
  /** For a sign-in: the page that a link leads back to. */
  interaction?: string,
) => Promise<string>;

/**
 * Used by POST /api/agent/signup and /recover, and by the sign-in page. It never looks at accounts, so neither the
 * answer, nor its timing, nor the mail reveals whether a mailbox has one.
 *
 * A crash after step 2 leaves limits taken, after step 4 a sign-up without its mail: the client asks for another code.
 */
export function createRequestCode(
  deps: SignupDeps,
  purpose: CodePurpose,
  /** The address of the page that a link opens. */
  linkPage: string,
): RequestCode {
  const isDisposable = createDisposableCheck();
  const mailboxHash = createMailboxHash(deps.secretKey);
  const codes = createCodeHashes(deps.secretKey);
  return async (body, clientAddress, interaction) => {
    // 1. Checks that need no other system.
    const { address, domain } = acceptableAddress(body, isDisposable);
    const mailbox = mailboxOf(address);
    const hash = mailboxHash(mailbox);
    // 2. Limits, before anything that burdens others: name servers, mail servers, mailboxes.
    await takeCodeLimits(deps.pool, deps.signup, {
      limits: purpose.limits,
      clientAddress,
      mailbox,
      mailboxHash: hash,
    });
    // 3. The domain.
    await refuseUndeliverable(deps, domain);
    // 4. The sign-up, then 5. the mail: a code that arrives is always known.
    const token = newSignupToken();
    const tokenHash = hashMailedToken(token);
    const { secret, mail } = (await hasTry(deps.pool, hash))
      ? withCode(codes, tokenHash, (code) => codeMail(address, code, deps.appUrl, purpose))
      : withLink((link) => linkMail(address, `${linkPage}?token=${link}`, deps.appUrl, purpose));
    await insertSignup(deps.pool, {
      tokenHash,
      purpose: purpose.name,
      email: address,
      mailbox,
      secret,
      interaction,
      validSeconds: CODE_SECONDS,
    });
    await sendOrDelete(deps, tokenHash, mail);
    return token;
  };
}

/** @throws ApiError undeliverable_email */
export async function refuseUndeliverable(
  { acceptsMail }: Pick<SignupDeps, 'acceptsMail'>,
  domain: string,
): Promise<void> {
  if (acceptsMail && !(await acceptsMail(domain))) {
    throw new ApiError('undeliverable_email', `email: the domain ${domain} cannot receive mail.`);
  }
}

type Mailed = { secret: NewSignup['secret']; mail: Mail };

function withCode(codes: CodeHashes, tokenHash: Buffer, mailOf: (code: string) => Mail): Mailed {
  const code = newCode();
  return { secret: { codeHash: codes.hash(tokenHash, code) }, mail: mailOf(code) };
}

function withLink(mailOf: (link: string) => Mail): Mailed {
  const link = newLinkToken();
  return { secret: { linkHash: hashMailedToken(link) }, mail: mailOf(link) };
}

/**
 * The address in a body `{email}`, as sign-up accepts it.
 *
 * @throws ApiError invalid_request, invalid_email, disposable_email
 */
export function acceptableAddress(body: unknown, isDisposable: DisposableCheck): EmailAddress {
  const { email } = parseRequest(signupBody, body === undefined ? {} : body, 'body');
  const parsed = parseEmailAddress(email);
  if (!parsed) throw new ApiError('invalid_email', 'email: is not a valid e-mail address.');
  if (isDisposable(parsed.domain)) {
    throw new ApiError('disposable_email', 'email: temporary inboxes are not accepted.');
  }
  return parsed;
}

/**
 * Mails the code of a sign-up, or deletes the sign-up.
 *
 * @throws ApiError email_failed
 */
export async function sendOrDelete(
  deps: Pick<SignupDeps, 'pool' | 'mailer' | 'logger'>,
  tokenHash: Buffer,
  mail: Mail,
): Promise<void> {
  try {
    await deps.mailer.send(mail);
  } catch (error) {
    await deleteSignup(deps.pool, tokenHash);
    if (!(error instanceof MailError)) throw error;
    deps.logger.warn({ failure: error.failure, smtpStatus: error.smtpStatus }, 'a code could not be mailed');
    throw new ApiError('email_failed', 'The code could not be mailed.', { retryAfter: MAIL_RETRY_AFTER });
  }
}
