import {
  RECORDER_GROUP,
  REMOVALS_ARCHIVER_GROUP,
  REMOVALS_RECORDER_GROUP,
} from '../../../schemas/messages/consumer-groups.ts';
import { FORUM_REMOVALS, MONITOR_CANDIDATES } from '../../../schemas/messages/topics.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { connectedGroups, rewindGroup } from '../../../shared/kafka/topics/raise-partitions.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import type { Config } from '../../../shared/runtime/config.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import { prepareRestored } from '../../../shared/stores/upkeep/restored-numbers.ts';
import { opensSealed } from '../../../shared/stores/upkeep/sealing-key.ts';
import { secretBoxOf } from '../../../shared/stores/upkeep/secret-keys.ts';
import { AdminError, requireSecretKeys } from '../command.ts';
import type { EnginesCommand } from '../command.ts';
import { findBrokers, findPostgres } from '../find-engines.ts';

/** For clocks that differ, and for records that were read shortly before the backup and stored after it. */
const SLACK_MS = 3_600_000;

const RESTORE_FINISH: EnginesCommand = {
  name: 'restore finish',
  summary: 'make a Postgres that was restored from a backup one that services may start on; stop them all first',
  optionsHelp: ['--taken-at TIME        when the backup was begun, as 2026-03-04T05:06:07Z'],
  examples: ['restore finish --taken-at 2026-03-04T05:06:07Z'],
  options: { 'taken-at': { type: 'string' } },
  prepare(values) {
    const takenAtMs = takenAtOption(values['taken-at']);
    return (config) => finish(config, takenAtMs);
  },
};

/**
 * Before: nothing runs. Steps, each harmless when repeated:
 * 1. Raise all counters past what may have been given after the backup, and set the positions of listings back.
 * 2. Set back the groups that write Postgres, so that what they wrote after the backup is written again.
 * After: services may start.
 */
async function finish(config: Config, takenAtMs: number): Promise<object[]> {
  const logger = createLogger('silent');
  const { security, topicPrefix: prefix } = config.kafka;
  const kafka = createKafka({ brokers: findBrokers(config), security, clientId: 'admin', logger });
  const connected = await connectedGroups(kafka, prefix);
  if (connected.length > 0) {
    throw new AdminError(
      `Nothing was changed: processes are connected to the groups ${connected.join(', ')}. Stop all services first.`,
    );
  }
  const pool = createPool({ url: findPostgres(config), name: 'admin', logger, max: 1 });
  try {
    await checkKey(pool, config);
    const monitors = await prepareRestored(pool);
    const rewind = (group: string, topic: string) =>
      rewindGroup(kafka, { prefix, group, topic, toMs: takenAtMs - SLACK_MS });
    const candidates = await rewind(RECORDER_GROUP, MONITOR_CANDIDATES.name);
    const removals = await rewind(REMOVALS_RECORDER_GROUP, FORUM_REMOVALS.name);
    // So that `archive rebuild` inserts nothing that is blanked in Postgres only later.
    const archived = await rewind(REMOVALS_ARCHIVER_GROUP, FORUM_REMOVALS.name);
    return [{ monitors, candidates_read_again: candidates, removals_read_again: Math.max(removals, archived) }];
  } finally {
    await pool.end();
  }
}

/** @throws AdminError when the database's secrets are sealed with another key */
async function checkKey(pool: Pool, config: Config): Promise<void> {
  const keys = await requireSecretKeys(pool, config);
  if ((await opensSealed(pool, secretBoxOf(keys))) !== false) return;
  throw new AdminError('Nothing was changed: SECRET_KEY does not open the secrets of this database. Set its own.');
}

/** @throws AdminError */
function takenAtOption(text = ''): number {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (ms <= systemClock()) return ms;
  throw new AdminError('--taken-at: must be the time of the backup, such as 2026-03-04T05:06:07Z.');
}

export const COMMANDS = [RESTORE_FINISH];
