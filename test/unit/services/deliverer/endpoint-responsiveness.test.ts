import { expect, test } from 'vitest';
import { EndpointResponsiveness } from '../../../../services/deliverer/endpoint-responsiveness.ts';

test('what this process learnt of an endpoint counts more than what the database tells, until it is long ago', () => {
  const responsiveness = new EndpointResponsiveness();
  responsiveness.assume('a', false);
  expect(responsiveness.of('a')).toBe('silent');
  responsiveness.set('a', 'answering');
  responsiveness.assume('a', false);
  expect([responsiveness.of('a'), responsiveness.of('b')]).toEqual(['answering', 'unknown']);
  for (let other = 0; other < 50_000; other++) responsiveness.set(`${other}`, 'answering');
  expect(responsiveness.of('a')).toBe('unknown');
});
