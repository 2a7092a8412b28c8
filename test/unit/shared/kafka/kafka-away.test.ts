import kafkajs from 'kafkajs';
import kafkajsErrors from 'kafkajs/src/errors.js';
import protocol from 'kafkajs/src/protocol/error.js';
import createRetry from 'kafkajs/src/retry/index.js';
import { expect, test } from 'vitest';
import { isKafkaAway } from '../../../../shared/kafka/kafka-away.ts';
import { PublishFailed, PublishRefused } from '../../../../shared/kafka/publish-errors.ts';
import { awayEngine } from '../../../../shared/outages/away-engine.ts';
import { systemError } from '../../../support/samples/system-error.ts';
import { KAFKA_OURS } from './kafka-away.cases.ts';

function kafkajsError(name: string, about?: unknown, details: object = {}): Error {
  return new kafkajsErrors[name]!(about, details);
}

const protocolError = (type: string) => new kafkajs.KafkaJSProtocolError(Object.assign(new Error(type), { type }));

test.each<[string, Error]>([
  ['a failed publish', new PublishFailed('x')],
  ['a closed connection', new kafkajs.KafkaJSConnectionError('x')],
  ['a missing leader', protocolError('LEADER_NOT_AVAILABLE')],
  ['an unknown protocol error', protocolError('NEW_IN_A_LATER_VERSION')],
])('%s means that Kafka is away', (_, error) => {
  expect(isKafkaAway(error)).toBe(true);
});

test.each<[string, Error]>([
  ['a refused publish', new PublishRefused('x')],
  ['a message that is too large', protocolError('MESSAGE_TOO_LARGE')],
  ['misuse of kafkajs', new kafkajs.KafkaJSNonRetriableError('x')],
  ['an error of another client', Object.assign(new Error('x'), { type: 'LEADER_NOT_AVAILABLE' })],
])('%s does not mean that Kafka is away', (_, error) => {
  expect(isKafkaAway(error)).toBe(false);
});

test.each(protocol.errorCodes.map(({ code, type }) => [type, code] as const))(
  'the protocol error %s (%i)',
  (type, code) => {
    const isOurs = KAFKA_OURS.includes(type);
    const error = protocol.createErrorFromCode(code);
    expect(isKafkaAway(error)).toBe(!isOurs);
    const givenUp = kafkajsError('KafkaJSNumberOfRetriesExceeded', error, { retryCount: 10, retryTime: 1 });
    expect(awayEngine(givenUp)).toBe(isOurs ? undefined : 'kafka');
  },
);

test.each([
  [kafkajsError('KafkaJSConnectionError', 'connect ENOTFOUND'), true],
  [kafkajsError('KafkaJSConnectionClosedError', 'closed'), true],
  [kafkajsError('KafkaJSRequestTimeoutError', 'no answer', {}), true],
  [kafkajsError('KafkaJSBrokerNotFound', 'gone'), true],
  [kafkajsError('KafkaJSGroupCoordinatorNotFound', 'none'), true],
  [kafkajsError('KafkaJSNoBrokerAvailableError'), true],
  [kafkajsError('KafkaJSNumberOfRetriesExceeded', systemError('EAI_AGAIN'), { retryCount: 10, retryTime: 1 }), true],
  [new PublishFailed('no acknowledgement'), true],
  [new PublishRefused('too large'), false],
  [kafkajsError('KafkaJSNonRetriableError', 'misused'), false],
  [kafkajsError('KafkaJSNotImplemented', 'Snappy'), false],
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
  [kafkajsError('KafkaJSServerDoesNotSupportApiKey', 'old', {}), false],
])('%s means that Kafka is away: %s', (error, away) => {
  expect(isKafkaAway(error)).toBe(away);
});

test.each([
  ['KafkaJSGroupCoordinatorNotFound', true],
  ['KafkaJSBrokerNotFound', true],
  ['KafkaJSNotImplemented', false],
  ['KafkaJSInvariantViolation', false],
])('%s at the end of the retries of kafkajs means that Kafka is away: %s', async (name, away) => {
  const given = createRetry({ retries: 0 })(() => Promise.reject(kafkajsError(name, 'x')));
  const error = await given.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message: expect.stringContaining('x') as string });
  expect(isKafkaAway(error)).toBe(away);
});

test('a fault of the code at the end of the retries of kafkajs does not mean that Kafka is away', async () => {
  const given = createRetry({ retries: 0 })(() => Promise.reject(new TypeError('x')));
  expect(isKafkaAway(await given.catch((thrown: unknown) => thrown))).toBe(false);
});
