import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import * as topics from '../../schemas/messages/topics.ts';

interface Pod {
  metadata: { labels: Record<string, string>; annotations?: Record<string, string> };
  spec: {
    automountServiceAccountToken: boolean;
    terminationGracePeriodSeconds?: number;
    shareProcessNamespace?: boolean;
    securityContext: { runAsNonRoot: boolean; seccompProfile: { type: string } };
    containers: Container[];
  };
}
interface Container {
  image: string;
  ports?: { name: string; containerPort: number }[];
  lifecycle?: object;
  resources: { requests: Record<string, string>; limits: Record<string, string> };
  securityContext: {
    allowPrivilegeEscalation: boolean;
    readOnlyRootFilesystem: boolean;
    capabilities: { drop: string[] };
  };
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
}
interface Probe {
  httpGet: { path: string; port: string };
}
interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: {
    replicas?: number;
    minReplicas?: number;
    selector?: { matchLabels?: Record<string, string> };
    podSelector?: { matchLabels: Record<string, string> };
    scaleTargetRef?: { kind: string; name: string };
    metrics?: { external?: { metric: { selector: Selector } } }[];
    template?: Pod;
  };
}
interface Selector {
  matchLabels?: { group: string };
  matchExpressions?: { values: string[] }[];
}
interface Kustomization {
  patches: { patch: string }[];
  images: { name: string; newTag: string }[];
  configMapGenerator: { literals: string[] }[];
}

const BASE = join(import.meta.dirname, '../../deploy/kubernetes/base');
const KUSTOMIZATION = 'kustomization.yaml';
const manifests = readdirSync(BASE)
  .filter((file) => file !== KUSTOMIZATION)
  .flatMap((file) =>
    parseAllDocuments(readFileSync(join(BASE, file), 'utf8')).map((document) => document.toJS() as Manifest),
  );
const kustomization = parse(readFileSync(join(BASE, KUSTOMIZATION), 'utf8')) as Kustomization;
const settings = Object.fromEntries(
  kustomization.configMapGenerator[0]!.literals.map((line) => line.split('=') as [string, string]),
);
const ofKind = (kind: string) =>
  new Map(manifests.filter((manifest) => manifest.kind === kind).map(({ metadata, spec }) => [metadata.name, spec]));
const deployments = ofKind('Deployment');
const autoscalers = ofKind('HorizontalPodAutoscaler');
const workloads = [...deployments, ...ofKind('Job')];
const several = [...deployments]
  .filter(([name, { replicas }]) => (replicas ?? autoscalers.get(name)?.minReplicas ?? 1) > 1)
  .map(([name]) => name)
  .sort();

test('no Deployment says how many pods it has where an autoscaler does', () => {
  const fixed = [...autoscalers.keys()].filter((name) => deployments.get(name)?.replicas !== undefined);
  expect([autoscalers.size, fixed]).toEqual([5, []]);
});

test('each autoscaler has a Deployment, and reads groups of consumers that exist', () => {
  const named = Object.entries(topics).filter(([name]) => name.endsWith('_GROUP'));
  const groups = [topics.matcherGroup({ shard: 1, shards: 1 }), ...named.map(([, group]) => group)];
  for (const [name, { scaleTargetRef, metrics }] of autoscalers) {
    expect([scaleTargetRef!.kind, deployments.has(scaleTargetRef!.name)], name).toEqual(['Deployment', true]);
    for (const { external } of metrics!) {
      const { matchLabels, matchExpressions } = external?.metric.selector ?? {};
      const read = [...(matchLabels ? [matchLabels.group] : []), ...(matchExpressions?.[0]!.values ?? [])];
      expect(groups).toEqual(expect.arrayContaining(read));
    }
  }
});

test('a service of two pods or more has a disruption budget, and only the biller and the archiver have one pod', () => {
  expect(several).toEqual(['api', 'crawler', 'deliverer', 'matcher', 'recorder']);
  expect([...ofKind('PodDisruptionBudget').keys()].sort()).toEqual(several);
});

test('two pods of a service are never on one machine', () => {
  expect(kustomization.patches[0]!.patch).toMatch(
    /topologyKey: kubernetes.io\/hostname\s+whenUnsatisfiable: DoNotSchedule/,
  );
});

test('selectors of Deployments, budgets and policies select pods', () => {
  const pods = workloads.map(([, { template }]) => ({
    'app.kubernetes.io/part-of': 'forum-monitor',
    ...template!.metadata.labels,
  }));
  for (const { kind, spec } of manifests) {
    const ofService = kind === 'Service' ? (spec.selector as unknown as Record<string, string>) : undefined;
    const labels = ofService ?? spec.selector?.matchLabels ?? spec.podSelector?.matchLabels;
    if (labels !== undefined) expect(pods).toContainEqual(expect.objectContaining(labels));
  }
  expect(ofKind('NetworkPolicy').get('deny-everything')!.podSelector!.matchLabels).toEqual({
    'app.kubernetes.io/part-of': 'forum-monitor',
  });
});

test.each(workloads)('%s has only the rights that it needs, and says what it needs', (_, { template }) => {
  const { automountServiceAccountToken, shareProcessNamespace, securityContext, containers } = template!.spec;
  expect(automountServiceAccountToken).toBe(false);
  expect(shareProcessNamespace).toBeUndefined();
  expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  for (const { image, resources, ...container } of containers) {
    expect(kustomization.images).toContainEqual(
      expect.objectContaining({ name: image, newTag: expect.stringMatching(/^\d/) as string }),
    );
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(Object.keys(resources.requests)).toEqual(['cpu', 'memory']);
    expect(Object.keys(resources.limits)).toEqual(['memory']);
  }
});

test.each([...deployments])('%s is probed where it answers, and has time to drain', (_, { template }) => {
  const { terminationGracePeriodSeconds, containers } = template!.spec;
  const [{ ports, startupProbe, readinessProbe, livenessProbe }] = containers as [Container];
  for (const probe of [startupProbe, readinessProbe, livenessProbe]) expect(probe!.httpGet.port).toBe('metrics');
  const metrics = ports!.find(({ name }) => name === 'metrics')!.containerPort;
  expect([String(metrics), template!.metadata.annotations!['prometheus.io/port']]).toEqual([
    settings['METRICS_PORT'],
    settings['METRICS_PORT'],
  ]);
  expect([settings['HOST'], settings['METRICS_HOST']]).toEqual(['0.0.0.0', '0.0.0.0']);
  expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Number(settings['DRAIN_SECONDS']) + 10);
});
