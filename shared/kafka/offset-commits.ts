import type { EachBatchPayload, TopicOffsets } from 'kafkajs';
import { CallBatcher } from '../runtime/call-batcher.ts';

/** The next offset of a partition, to be committed. */
export interface DueCommit {
  payload: Pick<EachBatchPayload, 'commitOffsetsIfNecessary'>;
  /** With the prefix. */
  topic: string;
  partition: number;
  next: bigint;
  metadata: string | undefined;
  /** Whether this process still owns the partition. */
  isOwned: () => boolean;
}

/**
 * Commits the offsets of a consumer's partitions. Partitions that end in the same moment, as after a shared insert,
 * share a request, and so do those that end while one is under way.
 *
 * It commits through the batch, not with consumer.commitOffsets(), which retries internally and hides the type of the
 * error. kafkajs needs that type to know that it must join again. The request contains the generation, so the broker
 * refuses a stale commit.
 */
export class OffsetCommits {
  private readonly together = new CallBatcher<DueCommit, boolean>({
    run: commitAll,
    maxGroup: 1_000,
    maxRunning: 1,
    // A coordinator that does not answer would let each request time out in turn.
    isShared: () => true,
  });

  /** Returns false, and commits nothing, when the partition was lost meanwhile. @throws errors of kafkajs */
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
