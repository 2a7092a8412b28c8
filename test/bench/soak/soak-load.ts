import { setTimeout as wait } from 'node:timers/promises';
import type { Installation } from '../../support/children/installation.ts';
import type { ServiceProcess } from '../../support/children/service-process.ts';
import { percentiles } from '../shared/percentiles.ts';
import type { SoakMonitor } from './soak-monitors.ts';

/** Requests that wait for an answer; beyond it the next ones are left out and counted. */
const MOST_OPEN = 200;
const ANSWERS_WITHIN_MS = 30_000;

/** Readers: six of ten requests are pages of matches, three posts that others read too, one a listing. */
export class Readers {
  readonly #installation: Installation;
  readonly #monitors: readonly SoakMonitor[];
  readonly #times = new Map<string, number[]>();
  readonly #statuses = new Map<string, number>();
  #posts: string[] = [];
  #open = 0;

  constructor(installation: Installation, monitors: readonly SoakMonitor[]) {
    this.#installation = installation;
    this.#monitors = monitors;
  }

  /** Asks so often until `signal` is aborted, and does not wait for answers. */
  async run(perSecond: number, signal: AbortSignal): Promise<void> {
    const begun = performance.now();
    for (let number = 0; !signal.aborted;) {
      if (begun + (number * 1_000) / perSecond > performance.now()) await wait(5);
      else void this.#ask(number++);
    }
  }

  report(): object[] {
    const statuses = Object.fromEntries([...this.#statuses].toSorted(([a], [b]) => a.localeCompare(b)));
    const kinds = [...this.#times].map(([kind, times]) => ({ run: `readers, ${kind}, ms`, ...percentiles(times) }));
    return [...kinds, { run: 'readers, answers', ...statuses }];
  }

  async #ask(number: number): Promise<void> {
    const monitor = this.#monitors[(number * 31) % this.#monitors.length]!;
    const [kind, path] = this.#request(number, monitor);
    if (this.#open >= MOST_OPEN) {
      this.#count('left out');
      return;
    }
    this.#open++;
    const begun = performance.now();
    try {
      const headers = { authorization: `Bearer ${monitor.key}` };
      const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
      const response = await fetch(this.#installation.url + path, { headers, signal });
      const text = await response.text();
      this.#count(`${kind} ${response.status}`);
      this.#times.set(kind, this.#times.get(kind) ?? []);
      this.#times.get(kind)!.push(performance.now() - begun);
      if (kind === 'listing') this.#posts = [...new Set([...idsIn(text), ...this.#posts])].slice(0, 100);
    } catch (error) {
      this.#count(`${kind} ${error instanceof Error ? error.name : 'failed'}`);
    } finally {
      this.#open--;
    }
  }

  #request(number: number, { id, subreddit }: SoakMonitor): [string, string] {
    const post = this.#posts[number % Math.max(1, this.#posts.length)];
    if (number % 10 < 6) return ['matches', `/v1/monitors/${id}/matches?order=newest&limit=50`];
    if (number % 10 < 9 && post !== undefined) return ['post', `/v1/forum/post?id=${post}`];
    return ['listing', `/v1/forum/subreddit?sub=${number % 20 === 9 ? subreddit : 'programming'}&limit=25`];
  }

  #count(what: string): void {
    this.#statuses.set(what, (this.#statuses.get(what) ?? 0) + 1);
  }
}

function idsIn(text: string): string[] {
  return [...text.matchAll(/"(t3_[0-9a-z]+)"/g)].map(([, id]) => id!);
}

/** Changes rules every two seconds, and pauses and resumes a monitor every ten; returns how often. */
export async function edit(
  installation: Installation,
  monitors: readonly SoakMonitor[],
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const answers: Record<string, number> = {};
  for (let turn = 0; !signal.aborted; turn++) {
    const { id, key, subreddit } = monitors[turn % monitors.length]!;
    const keywords = turn % 2 === 0 ? ['coffee', 'python'] : ['release'];
    const steps: [string, string, object?][] = [['PATCH', '', { keywords, subreddits: turn % 3 ? [subreddit] : [] }]];
    if (turn % 5 === 0) steps.push(['POST', '/pause'], ['POST', '/resume']);
    for (const [method, path, body] of steps) {
      const what = `${method}${path}`;
      const status = await installation
        .call(key, method, `/v1/monitors/${id}${path}`, body)
        .then((answer) => answer.status, String);
      answers[`${what} ${status}`] = (answers[`${what} ${status}`] ?? 0) + 1;
    }
    await wait(2_000);
  }
  return answers;
}

/** Stops and starts the second process of each service in turn; returns when, in milliseconds since the epoch. */
export async function restart(
  second: ReadonlyMap<string, ServiceProcess>,
  everyMs: number,
  signal: AbortSignal,
): Promise<{ service: string; at: number }[]> {
  const restarts: { service: string; at: number }[] = [];
  const services = [...second];
  const pause = () => wait(everyMs, true, { signal }).catch(() => false);
  for (let turn = 0; await pause(); turn++) {
    const [service, process] = services[turn % services.length]!;
    restarts.push({ service, at: Date.now() });
    await process.stop();
    process.start();
  }
  return restarts;
}

/** Doubles the forum's rate for a minute of every ten; returns the times at which a peak began. */
export async function peaks(simulator: string, rate: number, signal: AbortSignal): Promise<number[]> {
  const begun: number[] = [];
  const set = (value: number) =>
    fetch(`${simulator}/simulator/rate`, { method: 'POST', body: JSON.stringify({ rate: value }) });
  const pause = (minutes: number) => wait(minutes * 60_000, undefined, { signal }).catch(() => undefined);
  await pause(4);
  while (!signal.aborted) {
    begun.push(Date.now());
    await set(2 * rate);
    await pause(1);
    await set(rate);
    await pause(9);
  }
  return begun;
}
