import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { fetchThings, readEmitted } from '../support/clients/emitted-items.ts';
import { wordPattern, wordsIn } from '../support/oracles/naive-word-search.ts';
import { FORUM } from './neighbours.ts';
import { inspect, podman } from './podman.ts';

const PORT = 9_000;
const KEYWORDS = ['rust', 'coffee', 'python'];
/** A monitor sees what is shown after it was created; what is shown about then may be found or not. */
const MARGIN_MS = 5_000;

interface Match {
  id: string;
  thing_id: string;
  suppressed: boolean;
}

/** One customer: monitors, a receiver of their webhooks, and requests to the API all the time. */
export class Customer {
  /** Of each signed webhook that was received: the delivery's id, and how often it came. */
  readonly received = new Map<string, number>();
  unsigned = 0;
  #failures: { at: number; fault: string }[] = [];
  readonly #key: string;
  readonly #monitors = new Map<string, { keyword: string; secret: string; since: number }>();
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { secret } = this.#monitors.get((request.url ?? '').slice(1)) ?? {};
      try {
        new Webhook(secret!).verify(Buffer.concat(chunks).toString(), request.headers as Record<string, string>);
        const id = String(request.headers['x-service-delivery']);
        this.received.set(id, (this.received.get(id) ?? 0) + 1);
      } catch {
        this.unsigned += 1;
      }
      response.writeHead(204).end();
    });
  });
  #loads = false;
  readonly #pending = new Set<Promise<void>>();

  constructor(key: string) {
    this.#key = key;
    this.#server.listen(PORT, '0.0.0.0');
  }

  get authorization(): string {
    return `Bearer ${this.#key}`;
  }

  get monitorIds(): string[] {
    return [...this.#monitors.values()].map(({ keyword }) => keyword);
  }

  async call<T>(method: string, path: string, body?: object): Promise<T> {
    const headers = { authorization: this.authorization, 'content-type': 'application/json', connection: 'close' };
    const signal = AbortSignal.timeout(10_000);
    const answer = await fetch(`${FORUM}${path}`, {
      method,
      headers,
      signal,
      body: body ? JSON.stringify(body) : null,
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  async createMonitors(): Promise<void> {
    // This machine as the containers of the network see it.
    const network = await podman('network', 'inspect', 'forum-monitor_outside');
    const [{ subnets }] = JSON.parse(network) as [{ subnets: [{ gateway: string }] }];
    const receiver = `http://${subnets[0].gateway}:${PORT}`;
    for (const keyword of KEYWORDS) {
      const rule = { name: keyword, keywords: [keyword], posts: true, comments: true, nsfw: true };
      const url = { webhook_url: `${receiver}/${keyword}` };
      const { monitor, webhook_secret: secret } = await this.call<{ monitor: { id: string }; webhook_secret: string }>(
        'POST',
        '/v1/monitors',
        { ...rule, ...url },
      );
      this.#monitors.set(keyword, { keyword: monitor.id, secret, since: Date.now() + MARGIN_MS });
    }
  }

  /** Begins to send a request five times a second, each on a connection of its own. */
  load(): void {
    this.#loads = true;
    void (async () => {
      while (this.#loads) {
        const request = this.#request();
        this.#pending.add(request);
        void request.then(() => this.#pending.delete(request));
        await wait(200);
      }
    })();
  }

  async #request(): Promise<void> {
    const at = Date.now();
    await this.call('GET', '/v1/monitors').catch((error: unknown) => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      this.#failures.push({ at, fault: String(cause).slice(0, 100) });
    });
  }

  /**
   * What failed of the requests since the last call, in words.
   *
   * @param most how many may fail
   * @throws Error when more failed
   */
  async takeFailures(most: number): Promise<string> {
    await Promise.all(this.#pending);
    const failed = this.#failures;
    this.#failures = [];
    if (failed.length === 0) return 'no request failed';
    const times = failed.map(({ at }) => at);
    const seconds = (Math.max(...times) - Math.min(...times)) / 1_000;
    const faults = [...new Set(failed.map(({ fault }) => fault))].slice(0, 3).join('; ');
    const report = `${failed.length} requests failed within ${seconds.toFixed(1)} s (${faults})`;
    if (failed.length > most) throw new Error(report);
    return report;
  }

  /** Sends no more requests, and goes on to receive. */
  rest(): void {
    this.#loads = false;
  }

  async #matches(monitor: string): Promise<Match[]> {
    const matches: Match[] = [];
    for (let after: string | null = ''; after !== null;) {
      const cursor: string = after === '' ? '' : `&after=${after}`;
      const page: { items: Match[]; after: string | null } = await this.call(
        'GET',
        `/v1/monitors/${monitor}/matches?limit=200${cursor}`,
      );
      matches.push(...page.items);
      after = page.after;
    }
    return matches;
  }

  /** Compares a naive search in what the forum emitted, what the API lists, and what was received. */
  async compare() {
    const simulator = `http://${await inspect('simulator', '(index .NetworkSettings.Networks "forum-monitor_default").IPAddress')}:8090`;
    const folder = await podman('volume', 'inspect', '--format', '{{.Mountpoint}}', 'forum-monitor_simulator');
    const begun = Math.min(...[...this.#monitors.values()].map(({ since }) => since));
    const emitted = readEmitted(`${folder}/emitted.jsonl`).filter(
      ({ at, visible_at }) => at > begun && visible_at < Date.now() - 1_000,
    );
    const things = await fetchThings(
      simulator,
      emitted.map(({ name }) => name),
    );
    let expected = 0;
    let matches = 0;
    const faults: string[] = [];
    for (const [keyword, { keyword: id, since }] of this.#monitors) {
      const words = new Map([[keyword, wordPattern(keyword)]]);
      const wanted = emitted.filter(({ at, name }) => at > since && wordsIn(things.get(name)!, words).length > 0);
      const found = await this.#matches(id);
      const recorded = new Set(found.map(({ thing_id }) => thing_id));
      const lost = wanted.filter(({ name }) => !recorded.has(name));
      const unsent = found.filter((match) => !match.suppressed && !this.received.has(match.id));
      if (lost.length > 0) faults.push(`${keyword}: ${lost.length} items lost`);
      if (recorded.size !== found.length)
        faults.push(`${keyword}: ${found.length - recorded.size} items matched twice`);
      if (unsent.length > 0) faults.push(`${keyword}: ${unsent.length} matches were not received`);
      expected += wanted.length;
      matches += found.length;
    }
    const repeated = [...this.received.values()].filter((times) => times > 1).length;
    return { expected, matches, received: this.received.size, repeated, unsigned: this.unsigned, faults };
  }
}
