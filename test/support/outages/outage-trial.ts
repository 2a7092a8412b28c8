import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from '@clickhouse/client';
import { expect } from 'vitest';
import { FORUM_COMMENTS, FORUM_POSTS } from '../../../schemas/messages/topics.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import type { EngineName } from '../../../shared/runtime/errors.ts';
import { createPool, REQUEST_LIMITS } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { signalTree } from '../children/process-tree.ts';
import { ProxiedInstallation } from '../children/proxied-installation.ts';
import { startWebhookReceiver } from '../fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { eventually } from '../fixtures/eventually.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';
import { ExpectedPairs } from '../oracles/expected-pairs.ts';
import { readRecorded } from '../oracles/recorded-matches.ts';
import { OutageReaders } from './outage-readers.ts';
import type { Answers } from './outage-readers.ts';

/**
 * unavailable: a relay between the services and the engine breaks all connections. slow: it passes answers 2 s late.
 * full: the engine's disk is a small tmpfs, which a file fills. hung: the engine's processes are suspended.
 */
export type OutageKind = 'unavailable' | 'slow' | 'full' | 'hung';

/** What has happened so far, or between two moments; null while the engine that knows it cannot be asked. */
interface Progress {
  /** Records in the topics of items. */
  appended: number | null;
  recorded: number | null;
  webhooks: number | null;
  /** Items in ClickHouse. */
  archived: number | null;
}

/** The first digits of the answers that a route may give. */
type ExpectedAnswers = (route: string) => readonly string[];

/** What happened during an outage and after it. */
export type OutageReport = Awaited<ReturnType<OutageTrial['run']>>;

const SLOW_MS = 2_000;
/** An item that entered this long ago is delivered and archived, unless something is wrong. */
const SETTLED_MS = 5_000;
/** Statements and requests that were under way when an engine failed have ended by then. */
const UNDER_WAY_MS = 5_000;
/** Counted after what was under way has ended. */
const OUTAGE_MS = 4_000;
/** An outage lasts until each route has been answered as expected this often in a row, because a machine may stall. */
const ANSWERS_IN_A_ROW = 3;
const OUTAGE_PATIENCE_MS = 60_000;
/** An engine that has been started again needs about half a minute until all consumers are back. */
const PATIENCE_MS = 150_000;
/** Lines of a log with the cause of a process's end. */
const ABOUT_ENDS = /"level":"?(fatal|60)| ended \(/;
/** Between two comparisons, each of which reads all matches. */
const COMPARE_EVERY_MS = 500;

/** An installation at work, with monitors, webhooks and readers, whose engines fail one after the other. */
export class OutageTrial {
  readonly #whole: ProxiedInstallation;
  readonly #receiver: WebhookReceiver;
  readonly #expected: ExpectedPairs;
  readonly #watching: ReturnType<ExpectedPairs['watch']>;
  readonly #readers: OutageReaders;
  readonly #pool: Pool;
  readonly #account: string;
  #services: number | undefined;

  private constructor(parts: {
    whole: ProxiedInstallation;
    receiver: WebhookReceiver;
    expected: ExpectedPairs;
    readers: OutageReaders;
    account: string;
  }) {
    this.#whole = parts.whole;
    this.#receiver = parts.receiver;
    this.#expected = parts.expected;
    this.#readers = parts.readers;
    this.#account = parts.account;
    this.#watching = parts.expected.watch(Date.now());
    this.#services = parts.whole.installation.find('services-main');
    const url = parts.whole.engines.urls.postgres;
    // A server that hangs is asked for a few seconds only.
    this.#pool = createPool({ url, name: 'trial', logger: silentLogger(), limits: REQUEST_LIMITS });
  }

  /** @param disk the engine whose disk is to be filled */
  static async start(disk: EngineName): Promise<OutageTrial> {
    const receiver = await startWebhookReceiver();
    const env = {
      SIMULATOR_RATE: '40',
      CRAWL_SOURCES: 'post-ids,comment-ids,listings,threads',
      // Each match counts here, also those past a day's limit of webhooks.
      SUPPRESSED_MATCHES_PER_DAY: '1000000',
    };
    const whole = await ProxiedInstallation.start(env, [disk]);
    try {
      return await OutageTrial.#watch(whole, receiver);
    } catch (error) {
      await whole.remove();
      await receiver.stop();
      throw error;
    }
  }

  /** Creates an account and its monitors. */
  static async #watch(whole: ProxiedInstallation, receiver: WebhookReceiver): Promise<OutageTrial> {
    const { installation } = whole;
    const create = ['account', 'create', '--email', 'outages@example.com', '--credits', '100000', '--pack', '79'];
    const { api_key: key, account_id: account } = installation.admin(...create);
    const expected = new ExpectedPairs(installation);
    for (const keyword of ['rust', 'coffee', 'python']) {
      const body = { name: keyword, keywords: [keyword], nsfw: true, webhook_url: receiver.url };
      const { status, body: answer } = await installation.call(String(key), 'POST', '/v1/monitors', body);
      if (status !== 201) throw new Error(`a monitor was answered ${status}: ${JSON.stringify(answer)}`);
      expected.add((answer as { monitor: { id: string } }).monitor.id, keyword);
    }
    const readers = new OutageReaders(installation, String(key), expected.monitors()[0]!);
    const trial = new OutageTrial({ whole, receiver, expected, readers, account: String(account) });
    await eventually('the first webhooks', () => receiver.received.length > 0);
    return trial;
  }

  /** Whether a disk of this engine can be filled here. */
  canFill(engine: EngineName): boolean {
    return this.#whole.hasDisk(engine);
  }

  /**
   * Lets an engine fail for a time, and waits until all work has caught up.
   *
   * @param expected what each route must be answered with before the outage ends
   */
  async run(engine: EngineName, kind: OutageKind, expected: ExpectedAnswers = () => ['']) {
    const mend = this.#break(engine, kind);
    // What was under way then may still have been done, or be answered as before.
    await wait(UNDER_WAY_MS);
    this.#readers.forgetAnswers();
    const before = await this.#progress();
    await wait(OUTAGE_MS);
    const areExpected = () => unexpectedAnswers(this.#readers.answers, expected).length === 0;
    await eventually('the expected answers', areExpected, OUTAGE_PATIENCE_MS).catch(() => undefined);
    const unexpected = unexpectedAnswers(this.#readers.answers, expected);
    const during = difference(before, await this.#progress());
    const readyz = await this.#readiness();
    mend();
    let state = await this.#compare();
    await eventually(
      'all work has caught up',
      async () => {
        await wait(COMPARE_EVERY_MS);
        state = await this.#compare();
        return isWhole(state);
      },
      PATIENCE_MS,
    ).catch((error: unknown) => console.error(String(error)));
    return {
      ...{ during, readyz, unexpected, wrongAnswers: this.#readers.wrong.splice(0), ends: this.#takeEnds() },
      ...{ expected: state.expected, lost: state.lost.length, twice: state.twice, holes: state.holes },
      ...{ webhooksMissing: state.webhooks_missing, notArchived: state.not_archived },
      chargedWithoutAnswer: state.charged_without_answer,
    };
  }

  async stop(): Promise<void> {
    await this.#watching.stop();
    await this.#readers.stop();
    await this.#pool.end();
    await this.#whole.remove();
    await this.#receiver.stop();
  }

  #break(engine: EngineName, kind: OutageKind): () => void {
    const proxy = this.#whole.proxies[engine];
    if (kind === 'full') return this.#whole.fill(engine);
    if (kind === 'hung') {
      const { pid } = this.#whole.engines.process(engine);
      signalTree(pid, 'SIGSTOP');
      return () => signalTree(pid, 'SIGCONT');
    }
    if (kind === 'unavailable') {
      proxy.goAway();
      return () => proxy.comeBack();
    }
    proxy.delayAnswers(SLOW_MS);
    return () => proxy.delayAnswers(0);
  }

  /** What was logged about ends of the services since the last call, if another process runs them now. */
  #takeEnds(): string[] {
    const { installation } = this.#whole;
    const services = installation.find('services-main');
    if (services === this.#services) return [];
    this.#services = services;
    return ['another process', ...installation.output.split('\n').filter((line) => ABOUT_ENDS.test(line))];
  }

  /** The status of /readyz; 0: nothing answers. */
  async #readiness(): Promise<number> {
    return fetch(`${this.#whole.installation.url}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );
  }

  async #compare() {
    await this.#watching.look();
    const charged = await this.#pool.query<{ reads: number }>(
      `SELECT count(*)::int AS reads FROM ledger_entries WHERE account_id = $1 AND kind = 'read'`,
      [this.#account],
    );
    const recorded = await readRecorded(this.#pool, this.#expected.monitors());
    const settled = recorded.filter(({ enteredAt }) => enteredAt < Date.now() - SETTLED_MS);
    const archived = await this.#archivedMatches();
    return {
      ...this.#expected.compare(recorded, this.#receiver),
      webhooks_missing: this.#expected.compare(settled, this.#receiver).webhooks_missing,
      not_archived: settled.filter(({ monitorId, seq }) => !archived.has(`${monitorId} ${seq}`)).length,
      // For a moment there may be one, because a charge is committed before its answer arrives.
      charged_without_answer: Math.max(0, charged.rows[0]!.reads - this.#readers.paid),
    };
  }

  async #archivedMatches(): Promise<Set<string>> {
    const rows = await this.#askClickhouse<{ monitor_id: string; seq: string }>(
      'SELECT DISTINCT monitor_id, seq FROM matches',
    );
    return new Set(rows.map(({ monitor_id: monitor, seq }) => `${monitor} ${seq}`));
  }

  async #askClickhouse<T>(query: string): Promise<T[]> {
    const client = createClient({ url: this.#whole.engines.urls.clickhouse });
    try {
      return await (await client.query({ query, format: 'JSONEachRow' })).json<T>();
    } finally {
      await client.close();
    }
  }

  async #progress(): Promise<Progress> {
    const [appended, recorded, archived] = await Promise.allSettled([
      this.#appended(),
      this.#pool.query<{ n: number }>('SELECT count(*)::int AS n FROM matches').then(({ rows }) => rows[0]!.n),
      this.#askClickhouse<{ n: string }>('SELECT count() AS n FROM items').then((rows) => Number(rows[0]!.n)),
    ]);
    return {
      appended: valueOf(appended),
      recorded: valueOf(recorded),
      webhooks: this.#receiver.received.length,
      archived: valueOf(archived),
    };
  }

  async #appended(): Promise<number> {
    const brokers = [this.#whole.engines.urls.kafka];
    const kafka = createKafka({ brokers, clientId: 'trial', logger: silentLogger() });
    const topics = [FORUM_POSTS.name, FORUM_COMMENTS.name];
    const offsets = await kafka.withAdmin((admin) =>
      Promise.all(topics.map((topic) => admin.fetchTopicOffsets(topic))),
    );
    return offsets.flat().reduce((total, { high }) => total + Number(high), 0);
  }
}

type Comparison = ReturnType<ExpectedPairs['compare']> & { not_archived: number; charged_without_answer: number };

function isWhole({ lost, webhooks_missing, not_archived, charged_without_answer }: Comparison): boolean {
  return lost.length + webhooks_missing + not_archived + charged_without_answer === 0;
}

function valueOf<T>(outcome: PromiseSettledResult<T>): T | null {
  return outcome.status === 'fulfilled' ? outcome.value : null;
}

/** What happened between two moments. */
function difference(before: Progress, after: Progress): Progress {
  const less = (key: keyof Progress) => {
    const [from, to] = [before[key], after[key]];
    return from === null || to === null ? null : to - from;
  };
  return {
    ...{ appended: less('appended'), recorded: less('recorded') },
    ...{ webhooks: less('webhooks'), archived: less('archived') },
  };
}

export function expectNothingWrong(report: OutageReport): void {
  expect(report).toMatchObject({
    ...{ lost: 0, twice: 0, holes: 0, webhooksMissing: 0, notArchived: 0 },
    ...{ chargedWithoutAnswer: 0, wrongAnswers: [], unexpected: [], ends: [] },
  });
  expect(report.expected).toBeGreaterThan(0);
}

/** The routes that were not answered as expected at the end, with what they were answered. */
function unexpectedAnswers(answers: Answers, expected: ExpectedAnswers): string[] {
  const isExpected = (route: string) => (answer: string) => expected(route).some((start) => answer.startsWith(start));
  return Object.entries(answers)
    .filter(([route, all]) => all.length < ANSWERS_IN_A_ROW || !all.slice(-ANSWERS_IN_A_ROW).every(isExpected(route)))
    .map(([route, all]) => `${route}: ${all.join(', ')}`);
}

/** What readers are answered from ClickHouse. */
export const NEEDS_CLICKHOUSE = ['search/comments', 'timeseries'];
