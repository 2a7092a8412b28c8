import ipaddr from 'ipaddr.js';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { listSignInNetworks } from '../../../shared/stores/accounts/accounts.ts';
import type { SlidingLogLimit } from '../../../shared/stores/accounts/sliding-log-limits.ts';
import { takeUses } from '../../../shared/stores/accounts/sliding-log-limits.ts';
import { ApiError } from '../http/api-error.ts';
import type { CodePurpose } from './code-mail.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
/** A network's daily limit of codes, in multiples of its hourly limit. */
const DAILY_TO_HOURLY = 5;
/** Half of the mailbox's: keeps some codes for its owner, who asks from another network than somebody else. */
const PER_MAILBOX_AND_NETWORK_HOURLY = 5;
const PER_MAILBOX_AND_NETWORK_DAILY = 10;
const PER_MAILBOX_HOURLY = 10;
/** Limits the mails that strangers can make us send to a mailbox. */
const PER_MAILBOX_DAILY = 20;

/** Settings of the limits. */
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

/** The requester of a code, and which limits it takes. */
export interface CodeRequest {
  limits: CodePurpose['limits'];
  clientAddress: string | undefined;
  mailbox: string;
  /** A keyed hash: the limit's row must not reveal the address. */
  mailboxHash: Buffer;
}

interface CodeLimit extends SlidingLogLimit {
  refusal: (retryAfter: number) => ApiError;
}

/**
 * Takes one use of every limit, or of none. Sign-in and sign-up share no limit, so a flood of one never stops the
 * other. Recovery shares those of sign-up.
 *
 * @throws ApiError rate_limited, agent_signup_busy
 */
export async function takeCodeLimits(pool: Pool, budgets: CodeBudgets, request: CodeRequest): Promise<void> {
  const networks = networksOf(request.clientAddress);
  const known = await listSignInNetworks(pool, request.mailbox);
  const refused = await takeUses(pool, [
    ...(known.includes(networks[0].network) ? [] : strangersLimits(request)),
    ...networkOfMailboxLimits(request, networks.at(-1)!),
    ...networks.flatMap((network) => networkLimits(request.limits, network, budgets.perNetwork)),
    totalLimit(request.limits, budgets),
  ]);
  if (refused !== undefined) throw refused.limit.refusal(refused.retryAfter);
}

/** Of all networks together that the mailbox's account has not signed in from. */
function strangersLimits({ limits, mailboxHash }: CodeRequest): CodeLimit[] {
  const name = mailboxHash.toString('hex');
  const refusal = tooMany('Too many codes for this mailbox.');
  return [
    { name: `${limits}:mailbox:day:${name}`, maxUses: PER_MAILBOX_DAILY, seconds: DAY, refusal },
    { name: `${limits}:mailbox:hour:${name}`, maxUses: PER_MAILBOX_HOURLY, seconds: HOUR, refusal },
  ];
}

function networkOfMailboxLimits({ limits, mailboxHash }: CodeRequest, { network }: ClientNetwork): CodeLimit[] {
  const name = mailboxHash.toString('hex');
  const [hour, day] = [PER_MAILBOX_AND_NETWORK_HOURLY, PER_MAILBOX_AND_NETWORK_DAILY];
  const [hourly, daily] = [`${hour} an hour are sent.`, `your network may ask for ${day} a day.`].map((said) =>
    tooMany(`Too many codes for this mailbox: ${said}`),
  );
  return [
    { name: `${limits}:mailbox:from:${name}:${network}`, maxUses: hour, seconds: HOUR, refusal: hourly! },
    { name: `${limits}:mailbox:from:day:${name}:${network}`, maxUses: day, seconds: DAY, refusal: daily! },
  ];
}

function networkLimits(
  limits: CodeRequest['limits'],
  { network, times }: ClientNetwork,
  perNetwork: number,
): CodeLimit[] {
  const hour = perNetwork * times;
  const day = hour * DAILY_TO_HOURLY;
  const refusal = tooMany(
    `Too many codes for the network ${network}: ${hour} an hour and ${day} a day are sent for addresses that it gives.`,
  );
  return [
    { name: `${limits}:network:day:${network}`, maxUses: day, seconds: DAY, refusal },
    { name: `${limits}:network:hour:${network}`, maxUses: hour, seconds: HOUR, refusal },
  ];
}

/**
 * Its name sorts after those of mailboxes and networks, so the row that all requests share is locked for the shortest
 * time.
 */
function totalLimit(limits: CodeRequest['limits'], { perHour, signInPerHour }: CodeBudgets): CodeLimit {
  const [maxUses, message] =
    limits === 'signup' ? [perHour, 'Too many sign up now.'] : [signInPerHour, 'Too many sign in now.'];
  const refusal = (retryAfter: number) => new ApiError('agent_signup_busy', message, { retryAfter });
  return { name: `${limits}:total`, maxUses, seconds: HOUR, refusal };
}

function tooMany(message: string): CodeLimit['refusal'] {
  return (retryAfter) => new ApiError('rate_limited', message, { retryAfter });
}

/** A network that an address counts for, and how many household allowances it gets. */
export interface ClientNetwork {
  network: string;
  times: number;
}

const IPV4_PREFIX = 24;
/**
 * The prefixes that providers assign: a /64 to a household or server, a /56 to most lines, a /48 to a site. Each
 * contains 256 of the previous size but belongs to one customer, so it gets a few times the allowance and not 256
 * times.
 */
const IPV6_PREFIXES = [
  { prefix: 64, times: 1 },
  { prefix: 56, times: 2 },
  { prefix: 48, times: 4 },
] as const;

/** That of everybody whose address a proxy does not tell. */
export const UNKNOWN_NETWORK = 'unknown';
/** Some proxies forward the port as well: `192.0.2.1:5678`, `[2001:db8::1]:5678`. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([^\]]+)\](?::\d+)?)$/;

/**
 * The networks that a client's address counts for, smallest first: its /24, or its /64, /56 and /48. An IPv4-mapped
 * IPv6 address counts as IPv4. Everything that is not an address, as a proxy may forward, counts as one network.
 */
export function networksOf(given: string | undefined): [ClientNetwork, ...ClientNetwork[]] {
  const [, ipv4, ipv6] = WITH_PORT.exec(given ?? '') ?? [];
  const address = ipv4 ?? ipv6 ?? given;
  if (address === undefined || !ipaddr.isValid(address)) return [{ network: UNKNOWN_NETWORK, times: 1 }];
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') {
    const network = ipaddr.IPv4.networkAddressFromCIDR(`${parsed.toString()}/${IPV4_PREFIX}`);
    return [{ network: `${network.toString()}/${IPV4_PREFIX}`, times: 1 }];
  }
  const [household, ...larger] = IPV6_PREFIXES;
  const networkOf = ({ prefix, times }: { prefix: number; times: number }) => {
    const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/${prefix}`);
    return { network: `${network.toString()}/${prefix}`, times };
  };
  return [networkOf(household), ...larger.map(networkOf)];
}
