import ipaddr from 'ipaddr.js';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { listSignInNetworks } from '../../../shared/accounts/accounts.ts';
import { takeUses } from '../../../shared/accounts/sliding-log-limits.ts';
import { ApiError } from '../http/api-error.ts';
import type { CodePurpose } from './code-mail.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
/** A network's daily limit of codes, in multiples of its hourly limit. */
const DAILY_TO_HOURLY = 5;
/** Half of the mailbox's: keeps some codes for its owner, who requests them from another network than an attacker. */
const PER_MAILBOX_AND_NETWORK_HOURLY = 5;
const PER_MAILBOX_AND_NETWORK_DAILY = 10;
const PER_MAILBOX_HOURLY = 10;
/** Limits the mails that strangers can make us send to a mailbox. */
const PER_MAILBOX_DAILY = 20;

export interface CodeBudgets {
  /** Codes mailed in any hour for sign-up and recovery, by all processes together. */
  perHour: number;
  /** The same for sign-in, independent of sign-up. */
  signInPerHour: number;
  /**
   * Codes in any hour for a /24 or a /64, per purpose; a /56 gets twice, a /48 four times as many, and a day five times
   * an hour's.
   */
  perNetwork: number;
}

export interface CodeRequest {
  limits: CodePurpose['limits'];
  clientAddress: string | undefined;
  mailbox: string;
  /** A keyed hash: the limit's row must not reveal the address. */
  mailboxHash: Buffer;
}

/**
 * Takes one use of every limit, or of none. Sign-in and sign-up share no limit, so a flood of one never stops the
 * other. Recovery shares those of sign-up.
 *
 * @throws ApiError rate_limited, agent_signup_busy
 */
export async function takeCodeLimits(pool: Pool, budgets: CodeBudgets, request: CodeRequest): Promise<void> {
  const { limits, clientAddress, mailbox, mailboxHash } = request;
  const networks = networksOf(clientAddress);
  const isKnown = (await listSignInNetworks(pool, mailbox)).includes(networks[0].network);
  const name = mailboxHash.toString('hex');
  const from = `${name}:${networks.at(-1)!.network}`;
  const tooMany = 'Too many codes for this mailbox';
  const [hourly, daily] = [PER_MAILBOX_AND_NETWORK_HOURLY, PER_MAILBOX_AND_NETWORK_DAILY];
  const perHour = (of: string, maxUses: number, message: string) => ({
    name: `${limits}:${of}`,
    maxUses,
    seconds: HOUR,
    message,
  });
  const perDay = (of: string, maxUses: number, message: string) => ({ ...perHour(of, maxUses, message), seconds: DAY });
  // Its name sorts last, so the row that all requests share is locked for the shortest time.
  const total =
    limits === 'signup'
      ? perHour('total', budgets.perHour, 'Sign-up is busy. Try again later.')
      : perHour('total', budgets.signInPerHour, 'Sign-in is busy. Try again later.');
  // Shared by all networks that the mailbox's account has not signed in from.
  const ofStrangers = [
    perDay(`mailbox:day:${name}`, PER_MAILBOX_DAILY, `${tooMany}.`),
    perHour(`mailbox:hour:${name}`, PER_MAILBOX_HOURLY, `${tooMany}.`),
  ];
  const refused = await takeUses(pool, [
    ...(isKnown ? [] : ofStrangers),
    perHour(`mailbox:from:${from}`, hourly, `${tooMany}: the limit for your network is ${hourly} an hour.`),
    perDay(`mailbox:from:day:${from}`, daily, `${tooMany}: the limit for your network is ${daily} a day.`),
    ...networks.flatMap(({ network, times }) => {
      const hour = budgets.perNetwork * times;
      const day = hour * DAILY_TO_HOURLY;
      const message = `Too many codes for the network ${network}: the limits are ${hour} an hour and ${day} a day.`;
      return [perDay(`network:day:${network}`, day, message), perHour(`network:hour:${network}`, hour, message)];
    }),
    total,
  ]);
  if (refused === undefined) return;
  const { limit, retryAfter } = refused;
  throw new ApiError(limit.name === total.name ? 'agent_signup_busy' : 'rate_limited', limit.message, { retryAfter });
}

/** A network that an address counts for, and how many household allowances it gets. */
type ClientNetwork = { network: string; times: number };

const IPV4_PREFIXES = [{ prefix: 24, times: 1 }] as const;
/** What providers assign: a /64 to a household, a /56 to most lines, a /48 to a site. Each belongs to one customer. */
const IPV6_PREFIXES = [
  { prefix: 64, times: 1 },
  { prefix: 56, times: 2 },
  { prefix: 48, times: 4 },
] as const;

/** The network of all clients whose address a proxy does not forward. */
export const UNKNOWN_NETWORK = 'unknown';
/** Some proxies forward the port as well: `192.0.2.1:5678`, `[2001:db8::1]:5678`. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([^\]]+)\](?::\d+)?)$/;

/** Smallest first. An IPv4-mapped address counts as IPv4; whatever is not an address counts as one network. */
export function networksOf(given: string | undefined): [ClientNetwork, ...ClientNetwork[]] {
  const [, ipv4, ipv6] = WITH_PORT.exec(given ?? '') ?? [];
  const address = ipv4 ?? ipv6 ?? given;
  if (address === undefined || !ipaddr.isValid(address)) return [{ network: UNKNOWN_NETWORK, times: 1 }];
  const parsed = ipaddr.process(address);
  const [family, [first, ...larger]] =
    parsed.kind() === 'ipv4' ? [ipaddr.IPv4, IPV4_PREFIXES] : [ipaddr.IPv6, IPV6_PREFIXES];
  const networkOf = ({ prefix, times }: { prefix: number; times: number }): ClientNetwork => {
    const start = family.networkAddressFromCIDR(`${parsed.toNormalizedString()}/${prefix}`);
    return { network: `${start.toString()}/${prefix}`, times };
  };
  return [networkOf(first), ...larger.map(networkOf)];
}
