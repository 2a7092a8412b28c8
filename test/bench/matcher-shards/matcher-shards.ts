/**
 * `npm run --silent bench -- matcher-shards [--monitors N] [--items N]`: monitors of 5 keywords shared out over 1, 2
 * and 4 matcher processes, each a group of its own that reads every item: memory and load of each process, processor
 * time, and how long all of them take for a burst of items, which each match 20 monitors. Baseline: the same number of
 * processes in one group, which share the items and hold all monitors each.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { matcherGroups } from '../../../schemas/messages/consumer-groups.ts';
import { FORUM_COMMENTS, TOPICS } from '../../../schemas/messages/topics.ts';
import { consumerLag, ensureTopics } from '../../../shared/kafka/topics/topic-admin.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { commentItem } from '../../support/samples/forum-items.ts';
import type { Report } from '../main.ts';
import { openEngines } from '../matcher-service/open-engines.ts';
import type { MatcherEngines } from '../matcher-service/open-engines.ts';
import { commonWords, insertWatchingMonitors, watchedWord } from '../matcher-service/service-monitors.ts';
import { MatcherProcess } from '../matcher-service/service-process.ts';
import { seededRandom } from '../shared/matcher-random.ts';

const KEYWORDS = 5;
const COMMON_WORDS = 20_000;
const MATCHES_AN_ITEM = 20;
const PROCESSES = [1, 2, 4];
const POLL_MS = 100;

interface Run {
  engines: MatcherEngines;
  database: TestDatabase;
  monitors: number;
  items: number;
}

export default async function bench(report: Report, args: string[]): Promise<void> {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({ args, options: { monitors: text('400000'), items: text('20000') } });
  const [monitors, items] = [Number(values.monitors), Number(values.items)];
  const engines = await openEngines();
  const database = await createTestDatabase(engines.postgres);
  try {
    const terms = { keywords: KEYWORDS, excludes: 0 };
    await insertWatchingMonitors(database.pool, monitors, terms, commonWords(COMMON_WORDS), seededRandom(7));
    for (const processes of PROCESSES) {
      for (const shards of processes === 1 ? [1] : [processes, 1]) {
        report(await measure({ engines, database, monitors, items }, processes, shards));
      }
    }
  } finally {
    await database.drop();
    await engines.stop();
  }
}

/** So many processes in so many groups, on topics of their own. */
async function measure(run: Run, processes: number, shards: number): Promise<object> {
  const kafka = await createKafkaFixture(run.engines.brokers);
  const children = Array.from({ length: processes }, () => new MatcherProcess());
  try {
    await ensureTopics(kafka.kafka, { prefix: kafka.prefix, embedded: false, topics: TOPICS });
    const job = { brokers: run.engines.brokers.split(','), prefix: kafka.prefix, postgresUrl: run.database.url };
    for (const [index, child] of children.entries())
      child.start({ ...job, shard: { shard: (index % shards) + 1, shards } });
    await Promise.all(children.map((child) => child.next('ready')));
    const loaded = await Promise.all(children.map((child) => child.measured()));
    const records = Array.from({ length: run.items }, (_, number) => itemOf(number, run.monitors));
    const begun = performance.now();
    for (let from = 0; from < records.length; from += 500) {
      await kafka.publisher.publish(FORUM_COMMENTS.name, records.slice(from, from + 500));
    }
    const lagOf = async (group: string) => {
      const lags = await consumerLag(kafka.kafka, { prefix: kafka.prefix, group, topics: [FORUM_COMMENTS.name] });
      return lags.reduce((sum, { lag }) => sum + lag, 0);
    };
    while ((await Promise.all(matcherGroups(shards).map(lagOf))).some((lag) => lag > 0)) await wait(POLL_MS);
    const seconds = (performance.now() - begun) / 1_000;
    const after = await Promise.all(children.map((child) => child.measured()));
    return {
      processes,
      groups: shards,
      monitors: run.monitors,
      items_per_second: Math.round(run.items / seconds),
      candidates_per_second: Math.round((run.items * MATCHES_AN_ITEM) / seconds),
      each_mb: after.map(({ rss_mb }) => rss_mb),
      each_load_cpu_ms: loaded.map(({ thread_cpu_ms }) => thread_cpu_ms),
      each_burst_cpu_ms: after.map(({ thread_cpu_ms }) => thread_cpu_ms),
    };
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await kafka.drop();
  }
}

/** A comment with a word of each of 20 monitors. */
function itemOf(number: number, monitors: number): { key: string; value: string } {
  const words = Array.from({ length: MATCHES_AN_ITEM }, (_, place) => {
    const monitor = (number * 7_919 + place * 104_729) % monitors;
    return watchedWord(monitor * KEYWORDS);
  });
  const item = commentItem(number, words.join(' '));
  return { key: item.thing_id, value: JSON.stringify(item) };
}
