import { expect, test } from 'vitest';
import { runRenewalPass } from '../../../../services/biller/renewal-pass.ts';
import type { RenewalPassDeps } from '../../../../services/biller/renewal-pass.ts';
import { createMetrics } from '../../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../../support/fixtures/silent-logger.ts';

test('a pass in which no monitor is due costs one statement and no transaction', async () => {
  let statements = 0;
  const pool = {
    query: () => {
      statements += 1;
      return Promise.resolve({ rows: [] });
    },
    connect: () => Promise.reject(new Error('a transaction was begun')),
  } as unknown as RenewalPassDeps['pool'];
  const deps = { pool, metrics: createMetrics(), logger: silentLogger(), signal: new AbortController().signal };
  expect(await runRenewalPass(deps)).toBe(0);
  expect(statements).toBe(1);
});
