import { request } from 'undici';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import type { Clock } from '../runtime/clock.ts';
import { readJson, UpstreamError } from './upstream-error.ts';

const tokenAnswer = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

const MAX_TOKEN_BYTES = 64 * 1024;
/** Renewal starts this long before expiry, or after nine tenths of a shorter lifetime. */
const RENEW_EARLY_MS = 60_000;

export interface AccessTokenDeps {
  tokenUrl: string;
  client: { id: string; secret: string };
  userAgent: string;
  dispatcher: Dispatcher;
  clock: Clock;
  deadlineMs: number;
}

/**
 * The OAuth token of one client (client credentials, HTTP Basic). All callers share one fetch, and the token is renewed
 * before it expires.
 */
export class AccessToken {
  private readonly deps: AccessTokenDeps;
  private current: { value: string; renewAt: number } | undefined;
  private fetching: Promise<string> | undefined;

  constructor(deps: AccessTokenDeps) {
    this.deps = deps;
  }

  /** The token, if it need not be fetched. */
  cached(): string | undefined {
    return this.current && this.deps.clock() < this.current.renewAt ? this.current.value : undefined;
  }

  /**
   * @throws UpstreamError: refused when the client is not accepted, busy or broken as for any call; or what `request`
   *   throws
   */
  async get(): Promise<string> {
    const cached = this.cached();
    if (cached !== undefined) return cached;
    this.fetching ??= this.fetch().finally(() => {
      this.fetching = undefined;
    });
    return this.fetching;
  }

  /** Discards a token that the forum rejected. A newer token that was fetched meanwhile stays. */
  reject(value: string): void {
    if (this.current?.value === value) this.current = undefined;
  }

  private async fetch(): Promise<string> {
    const { tokenUrl, client, userAgent, dispatcher, clock, deadlineMs } = this.deps;
    const response = await request(tokenUrl, {
      dispatcher,
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        'user-agent': userAgent,
      },
      body: 'grant_type=client_credentials',
      signal: AbortSignal.timeout(deadlineMs),
    });
    const answer = tokenAnswer.safeParse(await readJson(response, MAX_TOKEN_BYTES, clock()));
    if (!answer.success) {
      const path = answer.error.issues[0]?.path.join('.') ?? '';
      throw new UpstreamError('broken', `the token response has an unknown shape at "${path}"`, { reason: 'shape' });
    }
    const lifetimeMs = answer.data.expires_in * 1000;
    this.current = {
      value: answer.data.access_token,
      renewAt: clock() + Math.max(lifetimeMs * 0.9, lifetimeMs - RENEW_EARLY_MS),
    };
    return this.current.value;
  }
}
