import type { MonitorShard } from '../shared/domain/monitor-shard.ts';
import { ConfigError } from '../shared/runtime/config.ts';
import type { Config } from '../shared/runtime/config.ts';

/**
 * The monitors of this process's matcher.
 *
 * @throws ConfigError when it is not said which of several shards they are
 */
export function shardOf({ matcher: { shard, shards } }: Config): MonitorShard {
  if (shard === undefined && shards > 1) {
    throw new ConfigError(`MATCHER_SHARD: a matcher must be told its shard, from 1 to MATCHER_SHARDS (${shards})`);
  }
  return { shard: shard ?? 1, shards };
}
