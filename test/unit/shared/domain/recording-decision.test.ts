import { expect, test } from 'vitest';
import { rejectionReason } from '../../../../shared/domain/recording-decision.ts';
import { DECISION_CASES } from './recording-decision.cases.ts';

const ACTIVE_SINCE = Date.parse('2026-03-01T12:00:00.000Z');

test.each(DECISION_CASES)('$name (tolerance $tolerance): $expected', (given) => {
  const { status = 'active', version = 1, candidateVersion = 1, tolerance = 0 } = given;
  const start = given.starts?.[candidateVersion + 1];
  const refusal = rejectionReason(
    {
      monitorVersion: candidateVersion,
      enteredAtMs: ACTIVE_SINCE + given.entered,
      createdUtcMs: ACTIVE_SINCE + (given.created ?? given.entered),
      replay: given.replay ?? false,
      muted: given.muted ?? false,
    },
    status === 'gone' ? undefined : { status, version, activeSinceMs: ACTIVE_SINCE },
    start === undefined ? undefined : ACTIVE_SINCE + start,
    tolerance,
  );
  expect(refusal).toBe(given.expected);
});
