import { expect, test } from 'vitest';
import { EndpointResponsiveness } from '../../../../services/deliverer/endpoint-responsiveness.ts';

test('a result of this process overrides that of the database until it is evicted', () => {
  const responsiveness = new EndpointResponsiveness();
  responsiveness.assume('a', false);
  expect(responsiveness.of('a')).toBe('silent');
  responsiveness.set('a', 'answering');
  responsiveness.assume('a', false);
  expect([responsiveness.of('a'), responsiveness.of('b')]).toEqual(['answering', 'unknown']);
  for (let other = 0; other < 50_000; other++) responsiveness.set(`${other}`, 'answering');
  expect(responsiveness.of('a')).toBe('unknown');
});
