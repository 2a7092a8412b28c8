import { DEAD_LETTER_SUFFIX } from '../../../schemas/messages/topics.ts';
import { retry } from '../../runtime/retry.ts';
import { deadLetterOf } from '../dead-letters.ts';
import type { KafkaConnection } from '../kafka-connection.ts';
import type { Publisher } from '../publisher.ts';
import { connectedGroups } from '../topics/raise-partitions.ts';
import { readToEnd } from '../topics/read-to-end.ts';
import { groupPositions } from '../topics/topic-admin.ts';

/** Nothing was changed; the message says why. */
export class CannotSetAside extends Error {
  override name = 'CannotSetAside';
}

class GroupHasMembers extends CannotSetAside {
  override name = 'GroupHasMembers';
}

const hasMembers = (group: string): string =>
  `processes are in the group ${group}, which is not halted: stop those that run it first`;

/** A halted group has members for a few seconds of each minute; with many processes not all step out at once. */
const EMPTY_TRIES = 90;

export interface RecordsToSetAside {
  kafka: KafkaConnection;
  prefix: string;
  /** Without the prefix, as the topic. */
  group: string;
  topic: string;
  partition: number;
  /** The first offset that stays. */
  to: bigint;
  publisher: Publisher;
  report: (line: string) => void;
  /** How often it looks, a second apart, whether the group has left. */
  tries?: number;
}

/**
 * Moves the records of one partition that a halted group reads next to the dead letters, in their order:
 *   1. wait until the group has no member;
 *   2. publish the letters;
 *   3. set the group's offset. A crash before it publishes them again at the next call, which is harmless.
 *
 * @returns how many
 * @throws CannotSetAside when the offset is not before the group, or the group has members all the time
 */
export async function setAsideRecords(options: RecordsToSetAside): Promise<number> {
  const { kafka, prefix, group, topic, partition, to, publisher } = options;
  await whenEmpty(options, () => Promise.resolve());
  const readPosition = async () => {
    const positions = await groupPositions(kafka, { prefix, group, topics: [topic] });
    return positions.find((one) => one.partition === partition);
  };
  const position = await readPosition();
  if (!position) throw new CannotSetAside(`${topic} has no partition ${partition}`);
  const { next, head } = position;
  if (to <= next || to > head) {
    const range = next === head ? 'it has read the whole partition' : `--to must be from ${next + 1n} to ${head}`;
    throw new CannotSetAside(`${group} is at offset ${next} of partition ${partition}: ${range}`);
  }
  let records = 0;
  await readToEnd({
    ...{ kafka, prefix, topics: [topic], ranges: [{ topic, partition, next, head: to }] },
    handle: async (batch) => {
      const letters = batch.records.map((record) =>
        deadLetterOf(group, { record, step: 'operator', reason: 'set aside' }),
      );
      await publisher.publish(topic + DEAD_LETTER_SUFFIX, letters);
      records += letters.length;
    },
  });
  await whenEmpty(options, async () => {
    await kafka.withAdmin((admin) =>
      admin.setOffsets({
        ...{ groupId: prefix + group, topic: prefix + topic },
        partitions: [{ partition, offset: String(to) }],
      }),
    );
    // kafkajs joins the group for that, and sets nothing where a process that joined as well got the partition.
    if (((await readPosition())?.next ?? 0n) < to) throw new GroupHasMembers(hasMembers(group));
  });
  return records;
}

/** The broker lets nobody else set the offsets of a group with members. */
function whenEmpty(
  { kafka, prefix, group, report, tries }: RecordsToSetAside,
  work: () => Promise<void>,
): Promise<void> {
  let isReported = false;
  return retry(
    async () => {
      if ((await connectedGroups(kafka, prefix)).includes(group)) {
        if (!isReported) report(`waiting until no process is in the group ${group}; each leaves it when it halts`);
        isReported = true;
        throw new GroupHasMembers(hasMembers(group));
      }
      await work();
    },
    {
      what: `waiting for the group ${group}`,
      logger: kafka.logger,
      retries: tries ?? EMPTY_TRIES,
      minMs: 1_000,
      maxMs: 1_000,
      isRetryable: (error) => error instanceof GroupHasMembers,
    },
  );
}
