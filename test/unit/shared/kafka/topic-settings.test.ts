import { describe, expect, test } from 'vitest';
import { MONITOR_MATCHES } from '../../../../schemas/messages/topics.ts';
import { checkTopic, topicConfig, topicSettings } from '../../../../shared/kafka/topic-settings.ts';
import type { FoundTopic } from '../../../../shared/kafka/topic-settings.ts';

const [WANTED] = topicSettings({ prefix: 'p.', embedded: false, topics: [MONITOR_MATCHES] });

const CLUSTER = { replication: 3, brokers: 3 };
const FREE = { replication: undefined, brokers: 3 };

/** As this version creates it, with the broker's defaults. */
function created(replication: number, changed: Record<string, string> = {}): FoundTopic {
  const { configEntries = [] } = topicConfig(WANTED!, replication);
  const config = new Map([['cleanup.policy', 'delete']]);
  for (const { name, value } of configEntries) config.set(name, value);
  for (const [name, value] of Object.entries(changed)) config.set(name, value);
  return { partitions: 24, replicas: replication, config };
}

describe('checkTopic', () => {
  test.each([
    [1, undefined],
    [2, 2],
    [3, 3],
    [5, 3],
  ])('finds nothing wrong with a topic of %i replicas where %s are required', (replicas, required) => {
    expect(checkTopic(WANTED!, created(replicas), { replication: required, brokers: replicas })).toEqual([]);
  });

  test.each([
    ['message.timestamp.type', 'CreateTime', 'message.timestamp.type=LogAppendTime', true],
    ['cleanup.policy', 'compact', 'cleanup.policy=delete', true],
    ['max.message.bytes', '1048588', 'max.message.bytes=4194304', true],
    ['min.insync.replicas', '1', 'min.insync.replicas=2', true],
    ['retention.ms', '3600000', `retention.ms=${7 * 86_400_000}`, false],
    ['retention.bytes', '1073741824', 'retention.bytes=-1', false],
  ])('%s=%s is mended by %s', (setting, value, mended, isFatal) => {
    const faults = checkTopic(WANTED!, created(3, { [setting]: value }), CLUSTER);
    expect(faults).toMatchObject([{ topic: 'p.monitor.matches', isFatal }]);
    expect(faults[0]!.fault).toContain(`has ${setting}=${value}, not `);
    expect(faults[0]!.command).toBe(
      'kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type topics --entity-name p.monitor.matches ' +
        `--add-config ${mended}`,
    );
  });

  test('a broker may keep more than is wanted', () => {
    const more = { 'retention.ms': '-1', 'max.message.bytes': '8388608', 'compression.type': 'gzip' };
    expect(checkTopic(WANTED!, created(3, more), CLUSTER)).toEqual([]);
  });

  test('too few replicas refuse a start only where a number is required', () => {
    expect(checkTopic(WANTED!, created(1), CLUSTER)).toMatchObject([
      { fault: 'has partitions with 1 of 3 replicas (KAFKA_REPLICATION)', isFatal: true },
      { fault: expect.stringContaining('min.insync.replicas=1, not 2') as string, isFatal: true },
    ]);
    expect(checkTopic(WANTED!, { ...created(1), replicas: 3 }, FREE)).toMatchObject([{ isFatal: false }]);
  });

  test.each([
    [1, 3, 'with only 1 replicas, but 3 brokers allow 3'],
    [2, 5, 'with only 2 replicas, but 5 brokers allow 3'],
    [1, 2, 'with only 1 replicas, but 2 brokers allow 2'],
    [1, 1, undefined],
  ])('%i copies among %i brokers are warned of where none are required: %s', (replicas, brokers, said) => {
    const faults = checkTopic(WANTED!, created(replicas), { ...FREE, brokers });
    expect(faults.map(({ fault, isFatal }) => [fault.includes(said!), isFatal])).toEqual(said ? [[true, false]] : []);
  });
});
