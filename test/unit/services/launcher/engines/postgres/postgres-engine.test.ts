import { expect, test } from 'vitest';
import { initdbOptions } from '../../../../../../services/launcher/engines/postgres/postgres-engine.ts';

test('initdb waits until the cluster is on the disk, because a folder that exists counts as a complete cluster', () => {
  const options = initdbOptions('/data/postgres.new/data', '/data/postgres.new/password');
  expect(options).toContain('--pgdata=/data/postgres.new/data');
  expect(options.filter((option) => option.includes('sync'))).toEqual([]);
});
