import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { SERVICES } from '../../../services/service-names.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Installation } from '../../support/children/installation.ts';

interface Readiness {
  status: number;
  /** Those that the answer names. */
  services: string[];
  /** Whether endpoints.json existed. */
  file: boolean;
}

const installation = await Installation.prepare();
afterAll(() => installation.remove());

test('/readyz says no until everything has started, with endpoints.json written, and other users have no access to the data directory', async () => {
  const started = installation.start();
  const file = join(installation.dataDir, 'endpoints.json');
  const answers: Readiness[] = [];
  const ask = async (): Promise<Readiness> => {
    const response = await fetch(`${installation.url}/readyz`);
    const { parts } = (await response.json()) as { parts: Record<string, boolean> };
    answers.push({
      status: response.status,
      services: SERVICES.filter((name) => name in parts),
      file: existsSync(file),
    });
    return answers.at(-1)!;
  };
  await eventually('ready', async () => (await ask()).status === 200, 110_000);
  await started;
  // The next answers, too: a check is made once a second.
  for (let more = 0; more < 2; more++) {
    await wait(1_100);
    await ask();
  }
  const firstYes = answers.findIndex(({ status }) => status === 200);
  expect(answers.slice(0, firstYes).filter(({ status }) => status !== 503)).toEqual([]);
  const yes = { services: [...SERVICES], file: true };
  // One of the later checks of an engine may take too long on a busy machine.
  expect(answers.slice(firstYes).filter(({ status }) => status === 200).length).toBeGreaterThan(1);
  expect(answers.slice(firstYes)).toMatchObject(answers.slice(firstYes).map(() => yes));
  expect(answers.every(({ services }) => services.length === SERVICES.length)).toBe(true);
  const root = process.getuid?.() === 0;
  expect(statSync(installation.dataDir).mode & 0o777).toBe(root ? 0o711 : 0o700);
  const open = readdirSync(installation.dataDir).filter(
    (name) => (statSync(join(installation.dataDir, name)).mode & 0o077) !== 0,
  );
  expect(open).toEqual([]);
});
