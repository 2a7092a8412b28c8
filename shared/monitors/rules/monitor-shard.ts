/** The monitors of a matcher: shard number `shard`, from 1, of `shards`. Each monitor is in one of them. */
export interface MonitorShard {
  shard: number;
  shards: number;
}

export const WHOLE: MonitorShard = { shard: 1, shards: 1 };
