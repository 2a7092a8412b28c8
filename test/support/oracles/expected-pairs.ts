import { setTimeout as wait } from 'node:timers/promises';
import type { Installation } from '../children/installation.ts';
import { fetchThings, readEmitted } from '../clients/emitted-items.ts';
import type { EmittedItem } from '../clients/emitted-items.ts';
import type { WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { wordPattern, wordsIn } from './naive-word-search.ts';
import type { Recorded } from './recorded-matches.ts';

/** Frequent words of the simulator's texts: each monitor has one. */
export const KEYWORDS = ['rust', 'coffee', 'python', 'release', 'update', 'anyone', 'finally', 'morning'];

const EVERY_MS = 5_000;
/** Things that were shown this long ago or longer are looked at; the simulator knows the last 10,000. */
const SHOWN_FOR_MS = 2_000;
/** A monitor sees what is shown after it was created; what is shown about then may be found or not. */
const MARGIN_MS = 5_000;

/** What monitors must find, by a naive search in what the simulator has emitted. */
export class ExpectedPairs {
  /** Items that were looked at. */
  items = 0;
  readonly #installation: Installation;
  readonly #monitors = new Map<string, string>();
  readonly #pairs = new Set<string>();
  #read = 0;
  /** Items that are not shown yet. */
  #hidden: EmittedItem[] = [];

  constructor(installation: Installation) {
    this.#installation = installation;
  }

  add(monitorId: string, keyword: string): void {
    this.#monitors.set(monitorId, keyword);
  }

  monitors(): string[] {
    return [...this.#monitors.keys()];
  }

  /** Looks at what is emitted from `since` on, until it is stopped; `look` looks at once. */
  watch(since: number): { look(): Promise<void>; stop(): Promise<void> } {
    const state = { isWatching: true };
    let looking = Promise.resolve();
    const look = () => (looking = looking.then(() => this.#look(since)));
    const watching = (async () => {
      while (state.isWatching) {
        await look();
        await wait(EVERY_MS);
      }
    })();
    return {
      look,
      async stop() {
        state.isWatching = false;
        await watching;
      },
    };
  }

  async #look(since: number): Promise<void> {
    const emitted = readEmitted(this.#installation.env.SIMULATOR_EMITTED_LOG!).slice(this.#read);
    this.#read += emitted.length;
    const shownUntil = Date.now() - SHOWN_FOR_MS;
    const known = [...this.#hidden, ...emitted.filter(({ at }) => at > since + MARGIN_MS)];
    const fresh = known.filter(({ visible_at }) => visible_at <= shownUntil);
    this.#hidden = known.filter(({ visible_at }) => visible_at > shownUntil);
    const things = await fetchThings(
      this.#installation.endpoints().simulator,
      fresh.map(({ name }) => name),
    );
    this.items += fresh.length;
    for (const { name } of fresh) {
      const thing = things.get(name);
      if (thing === undefined) throw new Error(`the simulator no longer knows ${name}`);
      for (const [monitor, keyword] of this.#monitors) {
        if (wordsIn(thing, new Map([[keyword, wordPattern(keyword)]])).length > 0)
          this.#pairs.add(`${monitor} ${name}`);
      }
    }
  }

  /** What is wrong with what was recorded and received. */
  compare(recorded: readonly Recorded[], { received }: WebhookReceiver) {
    const pairs = new Set(recorded.map(({ monitorId, thingId }) => `${monitorId} ${thingId}`));
    const ids = new Set(received.map(({ headers }) => String(headers['x-service-delivery'])));
    const delivered = recorded.filter(({ suppressed }) => !suppressed);
    const next = new Map<string, number>();
    let holes = 0;
    for (const { monitorId, seq } of recorded) {
      if (seq !== (next.get(monitorId) ?? 1)) holes += 1;
      next.set(monitorId, seq + 1);
    }
    return {
      expected: this.#pairs.size,
      recorded: recorded.length,
      lost: [...this.#pairs].filter((pair) => !pairs.has(pair)),
      twice: recorded.length - pairs.size,
      holes,
      webhooks: received.length,
      webhooks_missing: delivered.filter(({ id }) => !ids.has(id)).length,
    };
  }
}
