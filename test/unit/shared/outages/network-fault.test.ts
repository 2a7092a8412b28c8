import { expect, test } from 'vitest';
import { isNetworkFault } from '../../../../shared/outages/network-fault.ts';
import { systemError } from '../../../support/samples/system-error.ts';
import { NETWORK } from './network-fault.cases.ts';

test.each(NETWORK)('%s is a network fault', (code) => {
  expect(isNetworkFault(systemError(code))).toBe(true);
});

test('a missing file is a network fault only when a socket connects to it', () => {
  expect(isNetworkFault(systemError('ENOENT', 'connect'))).toBe(true);
  expect(isNetworkFault(systemError('ENOENT', 'open'))).toBe(false);
});

test.each([new Error('ECONNREFUSED'), systemError('EACCES'), { code: 'ECONNREFUSED' }, 'ECONNREFUSED', undefined])(
  '%o is no network fault',
  (error) => {
    expect(isNetworkFault(error)).toBe(false);
  },
);
