import { expect, test } from 'vitest';
import { awayEngine } from '../../../../shared/outages/away-engine.ts';
import { certificateFault } from '../../../../shared/outages/certificate-fault.ts';
import { systemError } from '../../../support/samples/system-error.ts';

test.each([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])('%s is a fault of a certificate, also as a cause, and an outage while processes run', (code) => {
  const fault = systemError(code);
  expect(certificateFault(fault)).toBe(code);
  expect(certificateFault(new Error('the connection failed', { cause: fault }))).toBe(code);
  expect(awayEngine(fault)).toBe('postgres');
});

test.each([new Error('CERT_HAS_EXPIRED'), systemError('ECONNREFUSED'), 'CERT_HAS_EXPIRED'])('%s is none', (error) => {
  expect(certificateFault(error)).toBeUndefined();
});
