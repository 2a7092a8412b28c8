import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { eventually } from '../support/fixtures/eventually.ts';
import { Installation } from '../support/children/installation.ts';

const installation = await Installation.prepare();
afterAll(() => installation.remove());

test('endpoints.json exists before /readyz answers 200, and other users have no access to the data directory', async () => {
  const started = installation.start();
  const file = join(installation.dataDir, 'endpoints.json');
  const wereThere = await eventually(
    'ready',
    async () => (await fetch(`${installation.url}/readyz`)).status === 200 && { file: existsSync(file) },
    60_000,
  );
  expect(wereThere).toEqual({ file: true });
  await started;
  const root = process.getuid?.() === 0;
  expect(statSync(installation.dataDir).mode & 0o777).toBe(root ? 0o711 : 0o700);
  const open = readdirSync(installation.dataDir).filter(
    (name) => (statSync(join(installation.dataDir, name)).mode & 0o077) !== 0,
  );
  expect(open).toEqual([]);
});
