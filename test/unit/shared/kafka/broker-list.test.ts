import { describe, expect, test } from 'vitest';
import { parseBrokers } from '../../../../shared/kafka/broker-list.ts';
import { loadConfig } from '../../../../shared/runtime/config.ts';

const sasl = { mechanism: 'plain', username: 'u', password: 'p/w' };

describe('parseBrokers', () => {
  test.each([
    [['a:1', 'kafka://b:2'], { brokers: ['a:1', 'b:2'] }],
    [['kafka://u:p%2Fw@a:1'], { brokers: ['a:1'], sasl }],
    [['u:p%2Fw@a:1', 'b:2'], { brokers: ['a:1', 'b:2'], sasl }],
    [['kafka://u:p%2Fw@a:1', 'u:p%2Fw@b:2'], { brokers: ['a:1', 'b:2'], sasl }],
  ])('%j', (list, expected) => {
    expect(parseBrokers(list)).toEqual(expected);
    expect(parseBrokers(loadConfig({ KAFKA_BROKERS: list.join(',') }).kafka.brokers!)).toEqual(expected);
  });

  test.each([[['a']], [['u@a:1']], [['u:p@']], [['http://a:1']], [['u:p@a:1', 'u:q@b:2']]])(
    'refuses %j without telling it',
    (list) => {
      expect(() => parseBrokers(list)).toThrow(/^(A Kafka broker is|All Kafka brokers must)/);
    },
  );
});
