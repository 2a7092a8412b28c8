import type { EachBatchPayload, TopicOffsets } from 'kafkajs';
import { CallBatcher } from '../runtime/call-batcher.ts';

export interface DueCommit {
  payload: Pick<EachBatchPayload, 'commitOffsetsIfNecessary'>;
  /** With the prefix. */
  topic: string;
  partition: number;
  next: bigint;
  metadata: string | undefined;
  isOwned: () => boolean;
}

/**
 * Partitions that end in the same moment, or while a request is under way, share a request.
 *
 * It commits through the batch: consumer.commitOffsets() hides the type of the error, by which kafkajs knows that it
 * must join again. The broker refuses a commit of an old generation.
 */
export class OffsetCommits {
  private readonly together = new CallBatcher<DueCommit, boolean>({
    run: commitAll,
    maxGroup: 1_000,
    maxRunning: 1,
    // A coordinator that does not answer would let each request time out in turn.
    isShared: () => true,
  });

  /** False: the partition was lost meanwhile, and nothing is committed. @throws errors of kafkajs */
  commit(due: DueCommit): Promise<boolean> {
    return this.together.call(due);
  }
}

async function commitAll(due: readonly DueCommit[]): Promise<boolean[]> {
  const owned = due.filter(({ isOwned }) => isOwned());
  const byTopic = Map.groupBy(owned, ({ topic }) => topic);
  const topics = [...byTopic].map(([topic, commits]): TopicOffsets => ({
    topic,
    partitions: commits.map(({ partition, next, metadata }) => ({
      partition,
      offset: String(next),
      ...(metadata === undefined ? {} : { metadata }),
    })),
  }));
  await owned[0]?.payload.commitOffsetsIfNecessary({ topics });
  return due.map((one) => owned.includes(one));
}
