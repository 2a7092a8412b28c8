import { groupsOfTopic } from '../../schemas/messages/consumer-groups.ts';
import { DEAD_LETTER_SUFFIX, TOPICS } from '../../schemas/messages/topics.ts';
import type { ConsumedRecord } from '../../shared/kafka/consumed-batch.ts';
import { createPublisher } from '../../shared/kafka/publisher.ts';
import type { OutgoingRecord } from '../../shared/kafka/publisher.ts';
import {
  CannotSetAside,
  readDeadLetters,
  replayDeadLetters,
  replayGroup,
  setAsideRecords,
} from '../../shared/kafka/stored-letters/replay-dead-letters.ts';
import type { DeadLetter } from '../../shared/kafka/stored-letters/replay-dead-letters.ts';
import { consumerLag } from '../../shared/kafka/topics/topic-admin.ts';
import { withLanguage, loadLanguageDetector } from '../../shared/language/load-language-detector.ts';
import type { LanguageDetector } from '../../shared/language/load-language-detector.ts';
import { createMetrics } from '../../shared/runtime/metrics.ts';
import { readThingLetter } from '../../shared/upstream/thing-letter.ts';
import { AdminError, integerOption } from './command.ts';
import { requireTopics } from './topic-commands.ts';
import type { KafkaCommand, KafkaWorkDeps, OptionValues } from './command.ts';

const DEFAULT_LISTED = 100;
/** What is listed is held in memory, about 2 KB a letter. */
const MAX_LISTED = 10_000;
const MAX_REPLAYED = 1_000_000_000;
const PROGRESS_EVERY = 1_000;

const TOPIC_HELP = '--topic TOPIC          the source topic, without a prefix; default: every topic';

const DEAD_LETTERS_LIST: KafkaCommand = {
  name: 'dead-letters list',
  summary: 'print the dead letters that were not replayed yet, oldest first, a line each',
  optionsHelp: [
    TOPIC_HELP,
    `--limit N              how many lines at most, default ${DEFAULT_LISTED}`,
    '--all                  also the letters that were replayed',
  ],
  examples: ['dead-letters list --topic monitor.candidates'],
  isList: true,
  options: { topic: { type: 'string' }, limit: { type: 'string' }, all: { type: 'boolean' } },
  prepare(values) {
    const topics = topicOption(values);
    const limit = integerOption(values, 'limit', { max: MAX_LISTED, byDefault: DEFAULT_LISTED });
    const includeReplayed = values.all !== undefined;
    return async (deps) => {
      await requireTopics(deps, withLetters(topics));
      return listLetters(deps, { topics, limit, includeReplayed });
    };
  },
};

const DEAD_LETTERS_REPLAY: KafkaCommand = {
  name: 'dead-letters replay',
  summary: 'publish dead letters to their source topic again, and print how many, a line for each topic',
  optionsHelp: [TOPIC_HELP, '--limit N              how many letters at most, default all that wait at the start'],
  examples: ['dead-letters replay --topic monitor.candidates --limit 10'],
  options: { topic: { type: 'string' }, limit: { type: 'string' } },
  prepare(values) {
    const topics = topicOption(values);
    const limit = integerOption(values, 'limit', { max: MAX_REPLAYED, byDefault: MAX_REPLAYED });
    return async (deps) => {
      await requireTopics(deps, withLetters(topics));
      return replayTopics(deps, topics, limit);
    };
  },
};

const DEAD_LETTERS_SET_ASIDE: KafkaCommand = {
  name: 'dead-letters set-aside',
  summary: 'move the records that halted a group to the dead letters, so that the group continues after them',
  optionsHelp: [
    '--topic TOPIC          the source topic, without a prefix',
    '--partition N          its partition',
    '--to OFFSET            the first offset that stays; all records from the group’s offset up to it are moved',
    '--group GROUP          the group; required where several read the topic',
  ],
  examples: ['dead-letters set-aside --topic monitor.candidates --partition 3 --to 1094'],
  options: Object.fromEntries(['topic', 'partition', 'to', 'group'].map((name) => [name, { type: 'string' }])),
  prepare(values) {
    if (values.topic === undefined) throw new AdminError('--topic: is required.');
    const [topic = ''] = topicOption(values);
    const partition = Number(wholeNumber('--partition', values.partition));
    const to = wholeNumber('--to', values.to);
    return async (deps) => {
      await requireTopics(deps, withLetters([topic]));
      return setAside(deps, {
        topic,
        partition,
        to,
        group: groupOption(values, groupsOfTopic(topic, deps.matcherShards)),
      });
    };
  },
};

const DEAD_LETTERS_COUNT: KafkaCommand = {
  name: 'dead-letters',
  summary: 'count the dead letters that were not replayed yet, a line for each topic',
  optionsHelp: [],
  examples: ['dead-letters', 'dead-letters --json'],
  isList: true,
  options: {},
  prepare: () => async (deps) => {
    await requireTopics(deps, withLetters(topicOption({})));
    return countLetters(deps);
  },
};

async function* countLetters({ kafka, prefix }: KafkaWorkDeps): AsyncIterable<object> {
  for (const { name: topic } of TOPICS) {
    const source = { prefix, group: replayGroup(topic), topics: [topic + DEAD_LETTER_SUFFIX] };
    const lags = await consumerLag(kafka, source);
    yield { topic, waiting: lags.reduce((sum, { lag }) => sum + lag, 0) };
  }
}

async function* listLetters(
  { kafka, prefix, report }: KafkaWorkDeps,
  { topics, limit, includeReplayed }: { topics: readonly string[]; limit: number; includeReplayed: boolean },
): AsyncIterable<object> {
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

async function* replayTopics(deps: KafkaWorkDeps, topics: readonly string[], limit: number): AsyncIterable<object> {
  const metrics = createMetrics();
  const { kafka, prefix, siteUrl, report } = deps;
  const detectLanguage = await loadLanguageDetector();
  const publisher = await createPublisher({ kafka, prefix, metrics, logger: kafka.logger });
  try {
    let left = limit;
    for (const topic of topics) {
      const onReplayed = (replayed: number, total: number) => {
        if (replayed % PROGRESS_EVERY === 0) report(`${topic}: ${replayed} of ${total} letters replayed`);
      };
      const restoring = { siteUrl, detectLanguage, report: (why: string) => report(`${topic}: ${why}`) };
      const restore = (letter: ConsumedRecord) => restoreThing(letter, restoring);
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
  { kafka, prefix, report }: KafkaWorkDeps,
  place: { topic: string; partition: number; to: bigint; group: string },
): Promise<object[]> {
  const publisher = await createPublisher({ kafka, prefix, metrics: createMetrics(), logger: kafka.logger });
  try {
    const records = await setAsideRecords({ kafka, prefix, publisher, report, ...place });
    return [{ ...place, to: Number(place.to), set_aside: records }];
  } catch (error) {
    throw error instanceof CannotSetAside ? new AdminError(`${error.message}.`) : error;
  } finally {
    await publisher.stop();
  }
}

/** The item of a thing that the crawler could not read. Other letters are published as they are. */
function restoreThing(
  letter: ConsumedRecord,
  {
    siteUrl,
    detectLanguage,
    report,
  }: { siteUrl: string; detectLanguage: LanguageDetector; report: (why: string) => void },
): OutgoingRecord | { reason: string } | undefined {
  const read = readThingLetter(letter, siteUrl);
  if (read.outcome === 'other') return undefined;
  if (read.outcome === 'item') {
    const item = withLanguage(read.item, detectLanguage, (error) =>
      report(`${letter.key} has no language: ${String(error)}`),
    );
    return { key: item.thing_id, value: JSON.stringify(item) };
  }
  report(`${letter.key} is set aside again: ${read.reason}`);
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

/** @throws AdminError that lists the topics when the named one is unknown */
function topicOption({ topic }: OptionValues): readonly string[] {
  const names = TOPICS.map(({ name }) => name);
  if (topic === undefined) return names;
  if (!names.includes(topic)) {
    throw new AdminError(`--topic: ${topic} is not a topic of this service. The topics are: ${names.join(', ')}.`);
  }
  return [topic];
}

function wholeNumber(option: string, text = ''): bigint {
  if (!/^\d{1,15}$/.test(text)) throw new AdminError(`${option}: must be a whole number.`);
  return BigInt(text);
}

function groupOption({ group }: OptionValues, groups: readonly string[]): string {
  const chosen = group ?? (groups.length === 1 ? groups[0] : undefined);
  if (chosen !== undefined && groups.includes(chosen)) return chosen;
  throw new AdminError(`--group: must be one of those that read the topic: ${groups.join(', ')}.`);
}

const withLetters = (topics: readonly string[]) => topics.flatMap((topic) => [topic, topic + DEAD_LETTER_SUFFIX]);

export const COMMANDS = [DEAD_LETTERS_LIST, DEAD_LETTERS_REPLAY, DEAD_LETTERS_SET_ASIDE, DEAD_LETTERS_COUNT];
