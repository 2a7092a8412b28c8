import kafkajs from 'kafkajs';
import { expect, test } from 'vitest';
import { isKafkaAway } from '../../../../shared/kafka/kafka-away.ts';
import { PublishFailed, PublishRefused } from '../../../../shared/kafka/publish-errors.ts';

const protocolError = (type: string) => new kafkajs.KafkaJSProtocolError(Object.assign(new Error(type), { type }));

test.each([
  ['a failed publish', new PublishFailed('x')],
  ['a closed connection', new kafkajs.KafkaJSConnectionError('x')],
  ['a missing leader', protocolError('LEADER_NOT_AVAILABLE')],
  ['an unknown protocol error', protocolError('NEW_IN_A_LATER_VERSION')],
])('%s means that Kafka is away', (_, error) => {
  expect(isKafkaAway(error)).toBe(true);
});

test.each([
  ['a refused publish', new PublishRefused('x')],
  ['a message that is too large', protocolError('MESSAGE_TOO_LARGE')],
  ['misuse of kafkajs', new kafkajs.KafkaJSNonRetriableError('x')],
  ['an error of another client', Object.assign(new Error('x'), { type: 'LEADER_NOT_AVAILABLE' })],
])('%s does not mean that Kafka is away', (_, error) => {
  expect(isKafkaAway(error)).toBe(false);
});
