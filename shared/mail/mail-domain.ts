import { Resolver } from 'node:dns/promises';
import { setTimeout as wait } from 'node:timers/promises';

/** Whether mail for a domain can be delivered; true also where that could not be found out. */
export type MailDomainCheck = (domain: string) => Promise<boolean>;

/** The part of node:dns/promises that is asked. Failures carry its codes: ENOTFOUND, ENODATA, ETIMEOUT, ESERVFAIL … */
export interface MailResolver {
  resolveMx(domain: string): Promise<{ exchange: string }[]>;
  resolve4(domain: string): Promise<string[]>;
  resolve6(domain: string): Promise<string[]>;
}

const QUERY_TIMEOUT_MS = 1_000;
const QUERY_TRIES = 2;
const TOTAL_MS = 3_000;

/**
 * Looks a domain up as RFC 5321 (5.1) and RFC 7505 say: its mail exchangers; without any its addresses; a null MX
 * refuses mail. Only a clear no of the name servers counts: a domain whose servers are slow or broken now is given the
 * benefit of the doubt.
 *
 * @param totalMs after which the question is given up
 */
export function createMailDomainCheck(
  resolver: MailResolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES }),
  totalMs = TOTAL_MS,
): MailDomainCheck {
  return async (domain) => {
    const givenUp = new AbortController();
    try {
      return await Promise.race([
        takesMail(resolver, domain),
        wait(totalMs, true, { signal: givenUp.signal, ref: false }),
      ]);
    } finally {
      givenUp.abort();
    }
  };
}

async function takesMail(resolver: MailResolver, domain: string): Promise<boolean> {
  const exchangers = await answerOf(resolver.resolveMx(domain));
  if (exchangers === 'no answer') return true;
  if (exchangers === 'no such name') return false;
  if (exchangers.length > 0) return exchangers.some(({ exchange }) => exchange !== '' && exchange !== '.');
  const addresses = await Promise.all([answerOf(resolver.resolve4(domain)), answerOf(resolver.resolve6(domain))]);
  return addresses.some((answer) => (typeof answer === 'string' ? answer === 'no answer' : answer.length > 0));
}

/** What the name servers said: records, or none; or that there is no such name; or nothing that helps. */
async function answerOf<T>(query: Promise<T[]>): Promise<T[] | 'no such name' | 'no answer'> {
  try {
    return await query;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENODATA') return [];
    return code === 'ENOTFOUND' ? 'no such name' : 'no answer';
  }
}
