import { setTimeout as wait } from 'node:timers/promises';
import type { Installation } from '../children/installation.ts';

const BETWEEN_MS = 1_000;

/** The statuses and codes that each route was answered with, the oldest first. */
export type Answers = Record<string, string[]>;

interface Reader {
  route: string;
  /** Whether an answer with status 200 costs credits. */
  isCharged: boolean;
  path: (turn: number) => string;
}

/** Customers who call a few routes once a second each, for as long as an installation runs. */
export class OutageReaders {
  /** Answers to charged routes with status 200. */
  paid = 0;
  /** Answers with 500, and answers with 503 that do not say when to try again. */
  readonly wrong: string[] = [];
  readonly #installation: Installation;
  readonly #key: string;
  readonly #stopping = new AbortController();
  readonly #loops: Promise<void>[];
  #answers: Answers = {};

  constructor(installation: Installation, key: string, monitorId: string) {
    this.#installation = installation;
    this.#key = key;
    const readers: Reader[] = [
      { route: 'account', isCharged: false, path: () => '/v1/account' },
      { route: 'matches', isCharged: false, path: () => `/v1/monitors/${monitorId}/matches?limit=1` },
      { route: 'subreddits', isCharged: true, path: (turn) => `/v1/forum/subreddits?limit=${1 + (turn % 100)}` },
      { route: 'search/comments', isCharged: true, path: (turn) => `/v1/forum/search/comments?q=rust${turn}` },
      { route: 'timeseries', isCharged: false, path: () => `/v1/monitors/${monitorId}/timeseries` },
    ];
    this.#loops = readers.map((reader) => this.#read(reader));
  }

  /** The answers since the last call of `forgetAnswers`. */
  get answers(): Answers {
    return this.#answers;
  }

  forgetAnswers(): void {
    this.#answers = Object.fromEntries(Object.keys(this.#answers).map((route) => [route, []]));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#loops);
  }

  async #read({ route, isCharged, path }: Reader): Promise<void> {
    const { signal } = this.#stopping;
    for (let turn = 0; !signal.aborted; turn++) {
      const answer = await this.#ask(path(turn));
      if (isCharged && answer.startsWith('200')) this.paid++;
      if (answer.includes('!')) this.wrong.push(`${route}: ${answer}`);
      (this.#answers[route] ??= []).push(answer);
      await wait(BETWEEN_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #ask(path: string): Promise<string> {
    try {
      const response = await fetch(`${this.#installation.url}${path}`, {
        headers: { authorization: `Bearer ${this.#key}` },
      });
      const body = (await response.json()) as { error?: { code: string; retryable: boolean } };
      if (body.error === undefined) return String(response.status);
      const { code, retryable } = body.error;
      const isRight = response.status < 500 || (response.status === 503 && retryable && hasWait(response));
      return `${response.status} ${code}${isRight ? '' : '!'}`;
    } catch (error) {
      return `no answer! ${String(error instanceof Error ? (error.cause ?? error) : error)}`;
    }
  }
}

function hasWait({ headers }: Response): boolean {
  return Number(headers.get('retry-after')) > 0;
}
