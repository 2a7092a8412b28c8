import { DEAD_LETTER_SUFFIX, groupsOfTopic, TOPICS } from '../../schemas/messages/topics.ts';
import { loadLanguageDetector, withLanguage } from '../../shared/crawl/load-language-detector.ts';
import type { LanguageDetector } from '../../shared/crawl/load-language-detector.ts';

import type { ConsumedRecord } from '../../shared/kafka/consumed-batch.ts';
import { createPublisher } from '../../shared/kafka/publisher.ts';
import type { OutgoingRecord } from '../../shared/kafka/publisher.ts';
import {
  CannotSetAside,
  readDeadLetters,
  replayDeadLetters,
  replayGroup,
  setAsideRecords,
} from '../../shared/kafka/replay-dead-letters.ts';
import type { DeadLetter } from '../../shared/kafka/replay-dead-letters.ts';
import { consumerLag } from '../../shared/kafka/topic-admin.ts';
import { createMetrics } from '../../shared/runtime/metrics.ts';
import { readItemLetter } from '../../shared/forum-client/malformed-item.ts';
import { AdminError, examples, integer, oneOf } from './command.ts';
import type { AddCommands, Installation } from './command.ts';
import { requireTopics } from './topic-commands.ts';

/** What is listed is held in memory, about 2 KB a letter. */
const MAX_LISTED = 10_000;
const MAX_REPLAYED = 1_000_000_000;
const PROGRESS_EVERY = 1_000;
const NAMES = TOPICS.map(({ name }) => name);

interface LetterOptions {
  topic?: string;
  limit: number;
}

export const addCommands: AddCommands = (program, { lines, table }) => {
  const topic = oneOf('--topic', NAMES);
  const letters = program
    .command('dead-letters')
    .description('count the dead letters that have not been replayed, one line per topic')
    .addHelpText('after', examples('dead-letters', 'dead-letters --json'))
    .action(table(countLetters));
  letters
    .command('list')
    .description('print the dead letters that have not been replayed, one per line, oldest first')
    .option('--topic <topic>', 'the source topic, without a prefix; default: every topic', topic)
    .option('--limit <n>', 'the maximum number of lines', integer('--limit', MAX_LISTED), 100)
    .option('--all', 'include letters that were replayed')
    .addHelpText('after', examples('dead-letters list --topic monitor.candidates'))
    .action(table(listLetters));
  letters
    .command('replay')
    .description('publish dead letters to their source topic again, and print the counts, one line per topic')
    .option('--topic <topic>', 'the source topic, without a prefix; default: every topic', topic)
    .option('--limit <n>', 'the maximum number of letters', integer('--limit', MAX_REPLAYED), MAX_REPLAYED)
    .addHelpText('after', examples('dead-letters replay --topic monitor.candidates --limit 10'))
    .action(lines(replayLetters));
  const offset = Number.MAX_SAFE_INTEGER;
  letters
    .command('set-aside')
    .description('move the records that halted a group to the dead letters, so that the group can continue after them')
    .requiredOption('--topic <topic>', 'the source topic, without a prefix', topic)
    .requiredOption('--partition <n>', 'the partition', integer('--partition', offset, 0))
    .requiredOption(
      '--to <offset>',
      'the first offset to keep; all records from the group’s offset up to this one are moved',
      integer('--to', offset, 0),
    )
    .option('--group <group>', 'the group; required if several groups read the topic')
    .addHelpText('after', examples('dead-letters set-aside --topic monitor.candidates --partition 3 --to 1094'))
    .action(lines(setAside));
};

async function* countLetters(installation: Installation): AsyncIterable<object> {
  await requireLetters(installation, NAMES);
  const { kafka, prefix } = installation;
  for (const topic of NAMES) {
    const source = { prefix, group: replayGroup(topic), topics: [topic + DEAD_LETTER_SUFFIX] };
    const lags = await consumerLag(kafka, source);
    yield { topic, waiting: lags.reduce((sum, { lag }) => sum + lag, 0) };
  }
}

async function* listLetters(
  installation: Installation,
  { topic: chosen, limit, all: includeReplayed = false }: LetterOptions & { all?: boolean },
): AsyncIterable<object> {
  const topics = chosen === undefined ? NAMES : [chosen];
  await requireLetters(installation, topics);
  const { kafka, prefix, report } = installation;
  let left = limit;
  let unlisted = 0;
  for (const topic of topics) {
    const { letters, found } = await readDeadLetters({ kafka, prefix, topic, limit: left, includeReplayed });
    yield* letters.map(toLine);
    left -= letters.length;
    unlisted += found - letters.length;
  }
  if (unlisted > 0) report(`${unlisted} more dead letters are not listed; set --limit or --topic to see them.`);
}

async function* replayLetters(
  installation: Installation,
  { topic: chosen, limit }: LetterOptions,
): AsyncIterable<object> {
  const topics = chosen === undefined ? NAMES : [chosen];
  await requireLetters(installation, topics);
  const { kafka, prefix, report } = installation;
  const { siteUrl } = installation.config.upstream;
  const detectLanguage = await loadLanguageDetector();
  const publisher = await createPublisher({ kafka, prefix, metrics: createMetrics(), logger: kafka.logger });
  try {
    let left = limit;
    for (const topic of topics) {
      const onReplayed = (replayed: number, total: number) => {
        if (replayed % PROGRESS_EVERY === 0) report(`${topic}: ${replayed} of ${total} letters replayed`);
      };
      const restoring = { siteUrl, detectLanguage, report: (why: string) => report(`${topic}: ${why}`) };
      const restore = (letter: ConsumedRecord) => restoreItem(letter, restoring);
      const options = { kafka, prefix, topic, publisher, limit: left, onReplayed };
      const { replayed, setAsideAgain, remaining } = await replayDeadLetters({ ...options, restore });
      left -= replayed;
      yield { topic, replayed, ...(setAsideAgain === 0 ? {} : { set_aside_again: setAsideAgain }), remaining };
    }
  } finally {
    await publisher.stop();
  }
}

async function setAside(
  installation: Installation,
  { topic, partition, to, group }: { topic: string; partition: number; to: number; group?: string },
): Promise<object[]> {
  await requireLetters(installation, [topic]);
  const { kafka, prefix, report, matcherShards } = installation;
  const groups = groupsOfTopic(topic, matcherShards);
  const chosen = group ?? (groups.length === 1 ? groups[0] : undefined);
  if (chosen === undefined || !groups.includes(chosen)) {
    throw new AdminError(`--group: must be a group that reads the topic: ${groups.join(', ')}.`);
  }
  const place = { topic, partition, group: chosen };
  const publisher = await createPublisher({ kafka, prefix, metrics: createMetrics(), logger: kafka.logger });
  try {
    const records = await setAsideRecords({ kafka, prefix, publisher, report, ...place, to: BigInt(to) });
    return [{ topic, partition, to, group: chosen, set_aside: records }];
  } catch (error) {
    throw error instanceof CannotSetAside ? new AdminError(`${error.message}.`) : error;
  } finally {
    await publisher.stop();
  }
}

/** The item of a letter that the crawler could not parse. Other letters are published as they are. */
function restoreItem(
  letter: ConsumedRecord,
  {
    siteUrl,
    detectLanguage,
    report,
  }: { siteUrl: string; detectLanguage: LanguageDetector; report: (why: string) => void },
): OutgoingRecord | { reason: string } | undefined {
  const read = readItemLetter(letter, siteUrl);
  if (read.outcome === 'other') return undefined;
  if (read.outcome === 'item') {
    const item = withLanguage(read.item, detectLanguage, (error) =>
      report(`the language of ${letter.key} could not be detected: ${String(error)}`),
    );
    return { key: item.thing_id, value: JSON.stringify(item) };
  }
  report(`${letter.key} was set aside again: ${read.reason}`);
  return { reason: read.reason };
}

function toLine(letter: DeadLetter): object {
  return {
    topic: letter.topic,
    partition: letter.partition,
    offset: letter.offset,
    time: letter.timestampMs === undefined ? undefined : new Date(letter.timestampMs).toISOString(),
    set_aside_at: new Date(letter.setAsideAtMs).toISOString(),
    key: letter.key,
    group: letter.group,
    step: letter.step,
    reason: letter.reason,
    source: letter.source,
    value: letter.excerpt,
    value_bytes: letter.bytes,
  };
}

async function requireLetters(installation: Installation, topics: readonly string[]): Promise<void> {
  await requireTopics(
    installation,
    topics.flatMap((topic) => [topic, topic + DEAD_LETTER_SUFFIX]),
  );
}
