import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RouteResponse } from './route.ts';
import { failure, ok, page } from './route.ts';

const TOKEN_SECONDS = 86_400;
const WINDOW_MS = 600_000;
/** User agents that name a library instead of an application. */
const GENERIC = /^(?:$|node|undici|axios|got|curl|wget|python|java|okhttp|go-http-client|ruby|perl|postman|mozilla)/i;

export interface AccessOptions {
  seed: number;
  callsPerWindow: number;
}

interface Usage {
  startedAt: number;
  used: number;
}

/** A token holds its client and its time of issue, signed, so that it stays valid after a restart. */
export class Access {
  private readonly options: AccessOptions;
  private readonly usage = new Map<string, Usage>();
  /** Clients with a call of /api/morechildren under way. */
  private readonly expanding = new Set<string>();
  /** Tokens issued before this time are refused. */
  private validFrom = 0;

  constructor(options: AccessOptions) {
    this.options = options;
  }

  revokeAll(now: number): void {
    this.validFrom = now + 1;
  }

  issue(authorization: string | undefined, grant: string | null, now: number): RouteResponse {
    const client = /^Basic (.+)$/i.exec(authorization ?? '')?.[1];
    const [id = ''] = Buffer.from(client ?? '', 'base64')
      .toString()
      .split(':');
    if (id === '') return failure(401);
    if (grant !== 'client_credentials') return { status: 400, body: { error: 'unsupported_grant_type' } };
    const payload = Buffer.from(JSON.stringify({ id, at: now })).toString('base64url');
    return ok({
      access_token: `${payload}.${this.sign(payload)}`,
      token_type: 'bearer',
      expires_in: TOKEN_SECONDS,
      scope: '*',
    });
  }

  private sign(payload: string): string {
    return createHmac('sha256', `simulator ${this.options.seed}`).update(payload).digest('base64url');
  }

  private clientOf(authorization: string | undefined, now: number): string | undefined {
    const [payload, signature] = (/^bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? '').split('.');
    if (payload === undefined || signature === undefined) return undefined;
    const expected = Buffer.from(this.sign(payload));
    const given = Buffer.from(signature);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const { id, at } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { id: string; at: number };
    return at >= this.validFrom && now < at + TOKEN_SECONDS * 1000 ? id : undefined;
  }

  static agentRefusal(userAgent: string | undefined): RouteResponse | undefined {
    return GENERIC.test(userAgent ?? '') ? page(429, 'Too Many Requests', { 'retry-after': '4' }) : undefined;
  }

  /** Begins a call of /api/morechildren and returns what ends it; undefined while the client makes another one. */
  beginExpansion(authorization: string | undefined, now: number): (() => void) | undefined {
    const client = this.clientOf(authorization, now) ?? '';
    if (this.expanding.has(client)) return undefined;
    this.expanding.add(client);
    return () => this.expanding.delete(client);
  }

  /** Counts one call. `refusal` is the response to a refused call; `headers` report the remaining quota. */
  admit(authorization: string | undefined, now: number): { refusal?: RouteResponse; headers: Record<string, string> } {
    const client = this.clientOf(authorization, now);
    if (client === undefined) return { refusal: failure(401), headers: {} };
    let usage = this.usage.get(client);
    const { callsPerWindow } = this.options;
    if (!usage || now >= usage.startedAt + WINDOW_MS) this.usage.set(client, (usage = { startedAt: now, used: 0 }));
    const isOver = usage.used >= callsPerWindow;
    if (!isOver) usage.used++;
    const reset = String(Math.ceil((usage.startedAt + WINDOW_MS - now) / 1000));
    const headers = {
      'x-ratelimit-used': String(usage.used),
      'x-ratelimit-remaining': (callsPerWindow - usage.used).toFixed(1),
      'x-ratelimit-reset': reset,
    };
    return isOver ? { refusal: { ...failure(429), headers: { 'retry-after': reset } }, headers } : { headers };
  }
}
