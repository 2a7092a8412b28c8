import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { takeUse } from '../../../shared/stores/recent-uses.ts';
import type { UseLimit } from '../../../shared/stores/recent-uses.ts';
import { ApiError } from '../api-error.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
const PER_NETWORK_AND_HOUR = 20;
const PER_NETWORK_AND_DAY = 100;
const PER_MAILBOX_AND_HOUR = 5;

/** Who asks for a code, and how many may be mailed in all. */
export interface CodeRequest {
  network: string;
  /** A keyed hash: the limit's row must not tell the address. */
  mailboxHash: Buffer;
  /** Codes mailed in any hour, whoever asks. */
  perHour: number;
}

interface SignupLimit extends UseLimit {
  refusal: (retryAfter: number) => ApiError;
}

/**
 * Takes one use of every limit, or none of any.
 *
 * @throws ApiError rate_limited, agent_signup_busy
 */
export async function takeSignupLimits(pool: Pool, request: CodeRequest): Promise<void> {
  await inTransaction(pool, async (client) => {
    for (const limit of limitsOf(request)) {
      const retryAfter = await takeUse(client, limit);
      if (retryAfter > 0) throw limit.refusal(retryAfter);
    }
  });
}

/** In the order of their names, as takeUse demands; the one that all share is last, so that it is locked shortest. */
function limitsOf({ network, mailboxHash, perHour }: CodeRequest): SignupLimit[] {
  return [
    {
      name: `signup:mailbox:${mailboxHash.toString('hex')}`,
      most: PER_MAILBOX_AND_HOUR,
      seconds: HOUR,
      refusal: tooMany(`Too many codes for this mailbox: ${PER_MAILBOX_AND_HOUR} an hour are sent.`),
    },
    { name: `signup:network:day:${network}`, most: PER_NETWORK_AND_DAY, seconds: DAY, refusal: ofNetwork },
    { name: `signup:network:hour:${network}`, most: PER_NETWORK_AND_HOUR, seconds: HOUR, refusal: ofNetwork },
    {
      name: 'signup:total',
      most: perHour,
      seconds: HOUR,
      refusal: (retryAfter) => new ApiError('agent_signup_busy', 'Too many sign up now.', { retryAfter }),
    },
  ];
}

const ofNetwork = tooMany(
  `Too many sign-ups from this network: ${PER_NETWORK_AND_HOUR} an hour and ${PER_NETWORK_AND_DAY} a day are possible.`,
);

function tooMany(message: string): SignupLimit['refusal'] {
  return (retryAfter) => new ApiError('rate_limited', message, { retryAfter });
}
