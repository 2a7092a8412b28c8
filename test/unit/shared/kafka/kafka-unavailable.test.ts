import kafkajs from 'kafkajs';
import kafkajsErrors from 'kafkajs/src/errors.js';
import protocol from 'kafkajs/src/protocol/error.js';
import createRetry from 'kafkajs/src/retry/index.js';
import { expect, test } from 'vitest';
import { isKafkaUnavailable, PublishFailed, PublishRefused } from '../../../../shared/kafka/kafka-unavailable.ts';
import { unavailableEngine } from '../../../../shared/runtime/outage-log.ts';
import { systemError } from '../../../support/samples/system-error.ts';

function kafkajsError(name: string, about?: unknown, details: object = {}): Error {
  return new kafkajsErrors[name]!(about, details);
}

const protocolError = (type: string) => new kafkajs.KafkaJSProtocolError(Object.assign(new Error(type), { type }));

test.each([
  ['NOT_LEADER_FOR_PARTITION', true],
  ['GROUP_COORDINATOR_NOT_AVAILABLE', true],
  ['NOT_ENOUGH_REPLICAS', true],
  ['MESSAGE_TOO_LARGE', false],
  ['TOPIC_AUTHORIZATION_FAILED', false],
  ['UNSUPPORTED_VERSION', false],
])(
  'the protocol error %s means that Kafka is unavailable, also when retries are given up: %s',
  (type, isUnavailable) => {
    const { code } = protocol.errorCodes.find((known) => known.type === type)!;
    const error = protocol.createErrorFromCode(code);
    expect(isKafkaUnavailable(error)).toBe(isUnavailable);
    const givenUp = kafkajsError('KafkaJSNumberOfRetriesExceeded', error, { retryCount: 10, retryTime: 1 });
    expect(unavailableEngine(givenUp)).toBe(isUnavailable ? 'kafka' : undefined);
  },
);

test.each([
  [kafkajsError('KafkaJSConnectionError', 'connect ENOTFOUND'), true],
  [kafkajsError('KafkaJSConnectionClosedError', 'closed'), true],
  [kafkajsError('KafkaJSRequestTimeoutError', 'no answer', {}), true],
  [kafkajsError('KafkaJSGroupCoordinatorNotFound', 'none'), true],
  [kafkajsError('KafkaJSNumberOfRetriesExceeded', systemError('EAI_AGAIN'), { retryCount: 10, retryTime: 1 }), true],
  [new PublishFailed('no acknowledgement'), true],
  [new PublishRefused('too large'), false],
  [protocolError('NEW_IN_A_LATER_VERSION'), true],
  [Object.assign(new Error('x'), { type: 'LEADER_NOT_AVAILABLE' }), false],
  [kafkajsError('KafkaJSNonRetriableError', 'misused'), false],
  [kafkajsError('KafkaJSSASLAuthenticationError', 'wrong password'), false],
  [kafkajsError('KafkaJSSASLAuthenticationError', 'SASL PLAIN authentication failed: Closed connection'), true],
  [kafkajsError('KafkaJSSASLAuthenticationError', 'SASL PLAIN authentication failed: Connection timeout'), true],
  [
    kafkajsError(
      'KafkaJSSASLAuthenticationError',
      'SASL SCRAM SHA512 authentication failed: Request SaslAuthenticate(key: 36, version: 0) timed out',
    ),
    true,
  ],
  [
    kafkajsError(
      'KafkaJSSASLAuthenticationError',
      'SASL SCRAM SHA512 authentication failed: Authentication failed during authentication due to invalid credentials',
    ),
    false,
  ],
])('%s means that Kafka is unavailable: %s', (error, isUnavailable) => {
  expect(isKafkaUnavailable(error)).toBe(isUnavailable);
});

test.each([
  ['KafkaJSGroupCoordinatorNotFound', true],
  ['KafkaJSNotImplemented', false],
])('%s at the end of the retries of kafkajs means that Kafka is unavailable: %s', async (name, isUnavailable) => {
  const given = createRetry({ retries: 0 })(() => Promise.reject(kafkajsError(name, 'x')));
  const error = await given.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message: expect.stringContaining('x') as string });
  expect(isKafkaUnavailable(error)).toBe(isUnavailable);
});
