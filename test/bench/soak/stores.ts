import type { Pool } from '../../../shared/postgres/pool.ts';

const TABLES = ['matches', 'matched_items', 'delivery_attempts', 'ledger_entries', 'monitor_counters', 'crawl_gaps'];
const MEGABYTE = 1024 * 1024;

interface Sample {
  lag: number;
  due: number;
  /** Megabytes by table, with indexes. */
  tables: Record<string, number>;
  /** Megabytes of the services' main process. */
  memory: Record<string, number>;
}

const MEMORY = {
  resident: 'process_resident_memory_bytes',
  heap: 'nodejs_heap_size_total_bytes',
  heap_used: 'nodejs_heap_size_used_bytes',
  external: 'nodejs_external_memory_bytes',
  cached_posts: 'cache_bytes{cache="posts"}',
  cached_answers: 'cache_bytes{cache="rendered"}',
  cached_listings: 'cache_bytes{cache="listings"}',
};

/** Lags, due deliveries and sizes of tables over time. */
export class Stores {
  readonly #pool: Pool;
  readonly #metrics: string;
  readonly #samples: Sample[] = [];

  /** `metrics` is the address of an installation's metrics. */
  constructor(pool: Pool, metrics: string) {
    this.#pool = pool;
    this.#metrics = metrics;
  }

  /** Takes a sample and describes it in a line. */
  async sample(): Promise<string> {
    const text = await fetch(new URL('/metrics', this.#metrics)).then(
      (response) => response.text(),
      () => '',
    );
    const sample = { lag: lagOf(text), due: await this.#due(), tables: await this.#sizes(), memory: memoryOf(text) };
    this.#samples.push(sample);
    const { matches, delivery_attempts: attempts } = sample.tables;
    return `lag ${sample.lag}, due deliveries ${sample.due}, matches ${matches} MB, attempts ${attempts} MB`;
  }

  async report(): Promise<object[]> {
    const lags = this.#samples.map(({ lag }) => lag);
    const dues = this.#samples.map(({ due }) => due);
    const { rows } = await this.#pool.query<{ gaps: string; attempts: string }>(
      `SELECT (SELECT count(*) FROM crawl_gaps WHERE filled_at IS NULL) AS gaps,
         (SELECT count(*) FROM delivery_attempts) AS attempts`,
    );
    return [
      { run: 'lag in messages', most: Math.max(...lags), last: lags.at(-1) },
      { run: 'due deliveries', most: Math.max(...dues), last: dues.at(-1), attempts: Number(rows[0]!.attempts) },
      { run: 'tables, MB', first: this.#samples[0]?.tables, last: this.#samples.at(-1)?.tables },
      { run: 'memory of the services, MB', tenths: this.#tenths().map(({ memory }) => memory) },
      { run: 'coverage', open_gaps: Number(rows[0]!.gaps) },
    ];
  }

  /** The last sample of each tenth of the time. */
  #tenths(): Sample[] {
    const samples = this.#samples;
    return Array.from({ length: 10 }, (_, tenth) => samples.at(Math.ceil(((tenth + 1) * samples.length) / 10) - 1)!);
  }

  async #due(): Promise<number> {
    const { rows } = await this.#pool.query<{ due: string }>(
      `SELECT count(*) AS due FROM matches WHERE delivery_status = 'pending' AND next_attempt_at <= service_now()`,
    );
    return Number(rows[0]!.due);
  }

  async #sizes(): Promise<Record<string, number>> {
    const { rows } = await this.#pool.query<{ name: string; bytes: string }>(
      `SELECT name, pg_total_relation_size(name::regclass) AS bytes FROM unnest($1::text[]) AS name`,
      [TABLES],
    );
    return Object.fromEntries(rows.map(({ name, bytes }) => [name, Math.round(Number(bytes) / MEGABYTE)]));
  }
}

/** Messages that the consumer groups of this installation have still to read, together, by its metrics. */
function lagOf(metrics: string): number {
  const values = [...metrics.matchAll(/^kafka_consumer_lag_records\{[^}]*\} (\S+)$/gm)].map(([, value]) =>
    Number(value),
  );
  return values.reduce((sum, value) => sum + value, 0);
}

function memoryOf(metrics: string): Record<string, number> {
  return Object.fromEntries(
    Object.entries(MEMORY).map(([part, name]) => {
      const line = metrics.split('\n').find((text) => text.startsWith(`${name} `));
      return [part, Math.round(Number(line?.slice(name.length)) / MEGABYTE)];
    }),
  );
}
