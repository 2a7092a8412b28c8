import kafkajs from 'kafkajs';
import { expect, test } from 'vitest';
import { advanceErasures, isArchivedUpTo } from '../../../../services/biller/erase-accounts.ts';
import type { ErasureDeps } from '../../../../services/biller/erase-accounts.ts';
import { silentLogger } from '../../../support/fixtures/silent-logger.ts';

const HEADS = { matches: { 0: '5', 1: '0' }, attempts: { 0: '9007199254740993' } };

test.each([
  ['exactly at the heads', { matches: { 0: '5', 1: '0' }, attempts: { 0: '9007199254740993' } }, true],
  ['past the heads', { matches: { 0: '6', 1: '3' }, attempts: { 0: '9007199254740994' } }, true],
  ['one record short', { matches: { 0: '4', 1: '0' }, attempts: { 0: '9007199254740993' } }, false],
  [
    'one record short, above the safe integers',
    { matches: { 0: '5', 1: '0' }, attempts: { 0: '9007199254740992' } },
    false,
  ],
  ['fewer digits', { matches: { 0: '5', 1: '0' }, attempts: { 0: '99' } }, false],
  ['a partition is missing', { matches: { 0: '5' }, attempts: { 0: '9007199254740993' } }, false],
  ['a topic is missing', { matches: { 0: '5', 1: '0' } }, false],
])('archived: %s', (_name, archived, expected) => {
  const heads = { matches: { 0: '90', 1: '90' }, attempts: { 0: '9007199254740999' } };
  expect(isArchivedUpTo(HEADS, { heads, archived })).toBe(expected);
});

test('a topic that was created again needs to be archived only up to its present head', () => {
  const heads = { matches: { 0: '2', 1: '0' }, attempts: { 0: '0' } };
  expect(isArchivedUpTo(HEADS, { heads, archived: { matches: { 0: '2', 1: '0' }, attempts: { 0: '0' } } })).toBe(true);
  expect(isArchivedUpTo(HEADS, { heads, archived: { matches: { 0: '1', 1: '0' }, attempts: { 0: '0' } } })).toBe(false);
});

/** One account waits for the archive, and Kafka refuses to tell how far that is. */
function refusedBy(error: Error): ErasureDeps {
  const settled = { accountId: 'acc_000000000001', monitorIds: [] };
  const query = (statement: string | { text: string }) => {
    const text = typeof statement === 'string' ? statement : statement.text;
    const rows = text.includes('make_interval') ? [settled] : [];
    return Promise.resolve({ rows, rowCount: rows.length });
  };
  return {
    pool: { query },
    kafka: { withAdmin: () => Promise.reject(error) },
    prefix: '',
    logger: silentLogger(),
    mayContinue: () => Promise.resolve(true),
  } as unknown as ErasureDeps;
}

test('a permission that Kafka refuses holds up erasures, and does not end the process', async () => {
  const refusal = new kafkajs.KafkaJSProtocolError(
    Object.assign(new Error('Not authorized to access group'), { type: 'GROUP_AUTHORIZATION_FAILED', code: 30 }),
  );
  await expect(advanceErasures(refusedBy(refusal))).resolves.toBeUndefined();
});

test('the job hears of an outage of Kafka', async () => {
  const unavailable = new kafkajs.KafkaJSNumberOfRetriesExceeded(new Error('connect'), { retryCount: 5, retryTime: 1 });
  await expect(advanceErasures(refusedBy(unavailable))).rejects.toBe(unavailable);
});
