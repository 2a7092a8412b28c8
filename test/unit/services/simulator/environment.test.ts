import { expect, test } from 'vitest';
import { parseEnvironment } from '../../../../services/simulator/environment.ts';

test('without settings nothing is left out, generated or slipped in deep', () => {
  const { world } = parseEnvironment({});
  expect(world).toMatchObject({ omissions: undefined, communities: 0, lateDeep: false, lateSeconds: undefined });
});

test('a share beyond a rate, and shares of what is shown less', () => {
  const settings = { SIMULATOR_DROP_ALL: '0.2@60', SIMULATOR_HIDDEN: '0.004', SIMULATOR_OUTSIDE_ALL: '0.01' };
  expect(parseEnvironment({ ...settings, SIMULATOR_LATE_DEEP: '1' }).world).toMatchObject({
    omissions: { drop_all: { share: 0.2, above: 60 }, hidden: 0.004, outside_all: 0.01, thread_only: 0 },
    lateDeep: true,
  });
});

test.each([
  ['SIMULATOR_DROP_ALL', '0.2'],
  ['SIMULATOR_DROP_ALL', '2@60'],
  ['SIMULATOR_LATE_SECONDS', '601'],
  ['SIMULATOR_LATE_DEEP', 'yes'],
  ['SIMULATOR_HIDDEN', '1'],
])('refuses %s=%s by name', (name, value) => {
  expect(() => parseEnvironment({ [name]: value })).toThrow(name);
});
