import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';
import { signupBody } from '../../../schemas/api/signup.ts';
import {
  CODE_SECONDS,
  hashMailedToken,
  newLinkToken,
  newSignupToken,
} from '../../../shared/accounts/rules/credentials.ts';
import { createMailboxHash, mailboxOf, parseEmailAddress } from '../../../shared/accounts/rules/mailbox.ts';
import type { EmailAddress } from '../../../shared/accounts/rules/mailbox.ts';
import { deleteSignup, insertSignup } from '../../../shared/accounts/signups.ts';
import { MailError } from '../../../shared/mail/mailer.ts';
import { ApiError, parseRequest } from '../http/api-error.ts';
import { codeMail, linkMail } from './code-mail.ts';
import type { CodePurpose } from './code-mail.ts';
import { createCodeHashes, hasTry, newCode } from './check-code.ts';
import { takeCodeLimits } from './signup-limits.ts';
import type { SignupDeps } from './signup-routes.ts';

const MAIL_RETRY_AFTER = 60;

/**
 * Mails a code to the address in a body, or a link when its tries of codes are used up, and returns the token that
 * belongs to it. It never looks at accounts, so neither the response, nor its timing, nor the mail reveals whether a
 * mailbox has one.
 *
 * A crash after step 2 leaves limits taken, after step 4 a sign-up without its mail: the client asks for another code.
 *
 * @param linkPage the address of the page that a link opens
 */
export function createRequestCode(deps: SignupDeps, purpose: CodePurpose, linkPage: string) {
  const mailboxHash = createMailboxHash(deps.secretKey);
  /** @param interaction for a sign-in: the page that a link leads back to */
  return async (body: unknown, clientAddress: string | undefined, interaction?: string): Promise<string> => {
    // 1. Checks that need no other system.
    const { address, domain } = acceptableAddress(body);
    const mailbox = mailboxOf(address);
    const hash = mailboxHash(mailbox);
    // 2. Limits, before anything that burdens others: name servers, mail servers, mailboxes.
    const { limits } = purpose;
    await takeCodeLimits(deps.pool, deps.signup, { limits, clientAddress, mailbox, mailboxHash: hash });
    // 3. The domain.
    await refuseUndeliverable(deps, domain);
    // 4. The sign-up, then 5. the mail: a code that arrives is always known.
    const token = newSignupToken();
    const isLink = !(await hasTry(deps.pool, hash));
    const { appUrl } = deps;
    await mailSecret(deps, { purpose, address, token, appUrl, interaction, linkPage: isLink ? linkPage : undefined });
    return token;
  };
}

interface MailedSecret {
  purpose: CodePurpose;
  address: string;
  token: string;
  /** Whose host the mail names. */
  appUrl: string;
  interaction?: string | undefined;
  linkPage?: string | undefined;
}

/** Stores a sign-up and mails its code or link; it is deleted when that fails. @throws ApiError email_failed */
export async function mailSecret(
  deps: SignupDeps,
  { purpose, address, token, appUrl, interaction, linkPage }: MailedSecret,
): Promise<void> {
  const tokenHash = hashMailedToken(token);
  const [code, link] = [newCode(), newLinkToken()];
  const [secret, mail] =
    linkPage === undefined
      ? [{ codeHash: createCodeHashes(deps.secretKey).hash(tokenHash, code) }, codeMail(address, code, appUrl, purpose)]
      : [{ linkHash: hashMailedToken(link) }, linkMail(address, `${linkPage}?token=${link}`, appUrl, purpose)];
  const of = { purpose: purpose.name, email: address, mailbox: mailboxOf(address) };
  await insertSignup(deps.pool, { tokenHash, ...of, secret, interaction, validSeconds: CODE_SECONDS });
  try {
    await deps.mailer.send(mail);
  } catch (error) {
    await deleteSignup(deps.pool, tokenHash);
    if (!(error instanceof MailError)) throw error;
    deps.logger.warn({ failure: error.failure, smtpStatus: error.smtpStatus }, 'a code could not be mailed');
    throw new ApiError('email_failed', 'The code could not be mailed. Try again later.', {
      retryAfter: MAIL_RETRY_AFTER,
    });
  }
}

export async function refuseUndeliverable({ acceptsMail }: SignupDeps, domain: string): Promise<void> {
  if (acceptsMail && !(await acceptsMail(domain))) {
    throw new ApiError('undeliverable_email', `email: the domain ${domain} cannot receive mail.`);
  }
}

/** As sign-up accepts it. @throws ApiError invalid_request, invalid_email, disposable_email */
export function acceptableAddress(body: unknown): EmailAddress {
  const { email } = parseRequest(signupBody, body === undefined ? {} : body, 'body');
  const parsed = parseEmailAddress(email);
  if (!parsed) throw new ApiError('invalid_email', 'email: is not a valid e-mail address.');
  if (isDisposable(parsed.domain)) {
    throw new ApiError('disposable_email', 'email: temporary inboxes are not accepted.');
  }
  return parsed;
}

/** About 9,000 domains. */
const DISPOSABLE = disposableEmailBlocklistSet();

/** Whether a domain, or a parent domain, is known for temporary inboxes. */
export function isDisposable(domain: string): boolean {
  for (let rest = domain; rest.includes('.'); rest = rest.slice(rest.indexOf('.') + 1)) {
    if (DISPOSABLE.has(rest)) return true;
  }
  return false;
}
