import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: { replicas?: number; minReplicas?: number };
}

const BASE = join(import.meta.dirname, '../../deploy/kubernetes/base');
const manifests = readdirSync(BASE).flatMap((file) =>
  parseAllDocuments(readFileSync(join(BASE, file), 'utf8')).map((document) => document.toJS() as Manifest),
);
const ofKind = (kind: string) =>
  new Map(manifests.filter((manifest) => manifest.kind === kind).map(({ metadata, spec }) => [metadata.name, spec]));
const deployments = ofKind('Deployment');
const autoscalers = ofKind('HorizontalPodAutoscaler');

test('no Deployment says how many pods it has where an autoscaler does', () => {
  const fixed = [...autoscalers.keys()].filter((name) => deployments.get(name)?.replicas !== undefined);
  expect([autoscalers.size, fixed]).toEqual([5, []]);
});

test('a service of two pods or more has a disruption budget, and only the biller and the archiver have one pod', () => {
  const several = [...deployments]
    .filter(([name, { replicas }]) => (replicas ?? autoscalers.get(name)?.minReplicas ?? 1) > 1)
    .map(([name]) => name);
  expect(several.sort()).toEqual(['api', 'crawler', 'deliverer', 'matcher', 'recorder']);
  expect([...ofKind('PodDisruptionBudget').keys()].sort()).toEqual(several);
});
