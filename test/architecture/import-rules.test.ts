import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync, copyFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** One file that breaks each rule: path, the import it must not have, and the rule. */
const BREACHES: [string, string, string][] = [
  ['schemas/a.ts', '../shared/runtime/b.ts', 'schemas-import-nothing-of-ours'],
  ['shared/runtime/b.ts', '../../services/api/c.ts', 'shared-imports-schemas-only'],
  ['shared/crawl/m.ts', '../../services/api/c.ts', 'shared-imports-schemas-only'],
  ['services/run.ts', './launcher/n.ts', 'nothing-imports-the-launcher'],
  ['services/go.ts', './simulator/o.ts', 'nothing-imports-the-simulator'],
  ['services/api/c.ts', '../recorder/d.ts', 'services-do-not-import-each-other'],
  ['services/recorder/d.ts', 'kafkajs', 'kafkajs-only-in-shared-kafka'],
  ['services/recorder/e.ts', 'chdb', 'embedded-engines-only-in-the-launcher'],
  ['services/recorder/p.ts', '../../shared/runtime/otlp-tracing.ts', 'otlp-tracing-is-loaded-on-demand'],
  ['shared/runtime/q.ts', '@opentelemetry/api', 'otel-sdk-only-in-otlp-tracing'],
  ['shared/matching/f.ts', '../runtime/b.ts', 'matching-imports-nothing'],
  ['shared/matches/rules/g.ts', '../../runtime/b.ts', 'rules-are-pure'],
  ['shared/runtime/h.ts', '../../test/i.ts', 'product-does-not-import-tests'],
  ['shared/kafka/j.ts', './k.ts', 'no-circular'],
  ['shared/kafka/l.ts', './nowhere.ts', 'resolvable'],
];

describe('import rules', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'forum-import-rules-'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const file of ['.dependency-cruiser.js', 'tsconfig.json', 'package.json'])
      copyFileSync(join(ROOT, file), join(folder, file));
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    for (const [path, target] of BREACHES) write(path, `import * as x from '${target}';\nexport const y = x;\n`);
    write('shared/kafka/k.ts', `import * as x from './j.ts';\nexport const y = x;\n`);
    const leaves = ['services/launcher/n.ts', 'services/simulator/o.ts', 'shared/runtime/otlp-tracing.ts', 'test/i.ts'];
    for (const leaf of leaves) write(leaf, 'export const y = 1;\n');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('each rule fires on a file that breaks it', () => {
    const cruiser = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
    const run = spawnSync(
      process.execPath,
      [cruiser, '--config', '.dependency-cruiser.js', '--output-type', 'json', 'schemas', 'shared', 'services', 'test'],
      { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
    );
    const report = JSON.parse(run.stdout.toString()) as {
      summary: { violations: { from: string; rule: { name: string } }[] };
    };
    const found = new Set(report.summary.violations.map(({ from, rule }) => `${from} ${rule.name}`));
    expect(BREACHES.map(([path, , rule]) => `${path} ${rule}`).filter((breach) => !found.has(breach))).toEqual([]);
  });
});
