import { insertItems } from '../../../shared/archive/archive-rows.ts';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import { forumItem } from '../../../schemas/messages/forum-item.ts';
import { FORUM_COMMENTS, FORUM_POSTS } from '../../../schemas/messages/topics.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { TopicRecords } from '../../../shared/kafka/publisher.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { CollectingPublisher } from '../fixtures/crawler-fixture.ts';

/** Replaces the broker and the archiver: what is published is in the archive when it is acknowledged. */
export class ArchivingPublisher extends CollectingPublisher {
  private readonly pool: Pool;
  private readonly clickhouse: ClickHouseClient;
  private readonly migrated: Promise<unknown>;

  /** @param migrated the archiver waits for it too: a table without its views yet would lose their rows */
  constructor(pool: Pool, clickhouse: ClickHouseClient, migrated: Promise<unknown> = Promise.resolve()) {
    super();
    this.pool = pool;
    this.clickhouse = clickhouse;
    this.migrated = migrated;
  }

  override async publishAll(topics: readonly TopicRecords[]): Promise<void> {
    const items = topics
      .filter(({ topic }) => topic === FORUM_POSTS.name || topic === FORUM_COMMENTS.name)
      .flatMap(({ records }) => records.map(({ value }): ForumItem => forumItem.parse(JSON.parse(value.toString()))));
    await this.migrated;
    if (items.length > 0) await insertItems(this.pool, this.clickhouse, items);
    await super.publishAll(topics);
  }
}
