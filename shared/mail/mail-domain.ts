import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Whether a domain accepts mail; also true when that could not be determined. */
export type MailDomainCheck = (domain: string) => Promise<boolean>;

/**
 * The functions of node:dns/promises that are used. Failures carry its codes: ENOTFOUND, ENODATA, ETIMEOUT, ESERVFAIL …
 */
export interface MailResolver {
  resolveMx(domain: string): Promise<{ exchange: string }[]>;
  resolve4(domain: string): Promise<string[]>;
  resolve6(domain: string): Promise<string[]>;
}

const QUERY_TIMEOUT_MS = 1_000;
const QUERY_TRIES = 2;
const TOTAL_MS = 3_000;

/**
 * Looks up a domain as RFC 5321 (5.1) and RFC 7505 require: its mail exchangers, or without any its addresses; a null
 * MX refuses mail. Only a definite refusal of the name servers counts. A domain with slow or broken name servers
 * passes.
 *
 * @param totalMs time after which the lookup ends and the domain passes
 */
export function createMailDomainCheck(
  resolver: MailResolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES }),
  totalMs = TOTAL_MS,
): MailDomainCheck {
  return (domain) => Promise.race([acceptsMail(resolver, domain), sleep(totalMs, true, { ref: false })]);
}

async function acceptsMail(resolver: MailResolver, domain: string): Promise<boolean> {
  const exchangers = await answerOf(resolver.resolveMx(domain));
  if (exchangers === 'no answer') return true;
  if (exchangers === 'no such name') return false;
  if (exchangers.length > 0) return exchangers.some(({ exchange }) => exchange !== '' && exchange !== '.');
  const addresses = await Promise.all([answerOf(resolver.resolve4(domain)), answerOf(resolver.resolve6(domain))]);
  return addresses.some((answer) => (typeof answer === 'string' ? answer === 'no answer' : answer.length > 0));
}

/** The answer of the name servers: records (possibly none), no such name, or no usable answer. */
async function answerOf<T>(query: Promise<T[]>): Promise<T[] | 'no such name' | 'no answer'> {
  try {
    return await query;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENODATA') return [];
    return code === 'ENOTFOUND' ? 'no such name' : 'no answer';
  }
}
