import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { api, startCluster, strimziDefinitions } from './kubernetes-cluster.ts';
import { run, stage } from './podman.ts';

const MANIFESTS = '/tmp/project/deploy/kubernetes';
const SECRETS = '/tmp/secrets.env';
const ONE_POD = ['archiver', 'biller'];

interface Item {
  kind: string;
  metadata: { name: string; labels: Record<string, string>; deletionTimestamp?: string; creationTimestamp: string };
  spec: {
    nodeName?: string;
    replicas?: number;
    maxReplicas?: number;
    template?: { spec: { terminationGracePeriodSeconds?: number; containers: Container[] } };
    containers?: Container[];
  };
  status: { phase?: string; conditions?: { type: string; status: string }[]; completionTime?: string };
  data: Record<string, string>;
}
interface Container {
  image: string;
  args: string[];
  ports?: { name: string; containerPort: number }[];
  startupProbe?: Probe;
  readinessProbe?: Probe;
}
interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  failureThreshold: number;
}

const CORE = '/api/v1/namespaces/forum';
const APPS = '/apis/apps/v1/namespaces/forum';
const list = async (path: string) => ((await api(path)) as { items: Item[] }).items;
const component = ({ metadata }: Item) => metadata.labels['app.kubernetes.io/component']!;
const holds = ({ status }: Item, type: string) =>
  status.conditions?.some((is) => is.type === type && is.status === 'True');
const isReady = (pod: Item) =>
  pod.metadata.deletionTimestamp === undefined && pod.status.phase === 'Running' && holds(pod, 'Ready') === true;
const readyPods = async () => (await list(`${CORE}/pods`)).filter(isReady);

export async function runKubernetes(): Promise<void> {
  mkdirSync('/tmp/project/deploy', { recursive: true });
  cpSync('/project/deploy/kubernetes', MANIFESTS, { recursive: true });
  const kafka = 'kafka://localhost:9092';
  const engines = ['DATABASE_URL=postgres://forum:secret@localhost:5432/forum', 'CLICKHOUSE_URL=http://localhost:8123'];
  const clients = 'UPSTREAM_CLIENTS=id:secret';
  const rest = [`SECRET_KEY=${'k'.repeat(43)}=`, clients, 'SMTP_URL=smtps://mail.example.com'];
  const stripe = ['STRIPE_SECRET_KEY=sk_live_x', 'STRIPE_WEBHOOK_SECRET=whsec_x'];
  writeFileSync(SECRETS, [`KAFKA_BROKERS=${kafka}`, ...engines, ...rest, ...stripe].join('\n'));

  await stage('API server, scheduler, controllers, and four nodes of 4 cores and 8 GiB in two zones', startCluster);
  await stage("definitions of Strimzi's resources", strimziDefinitions);
  await stage('services take the settings, answer the probes and end by SIGTERM', servicesStart);
  await stage('base: first start by deploy/README.md', async () => {
    await documented('deploy/README.md', 'kubectl create namespace', 'base', (text) =>
      text.replace(/# three-brokers only[^]*?\n\n/, ''),
    );
    return placed();
  });
  await stage('base: both nodes of the API are drained at once', drained);
  await stage('base: upgrade by deploy/README.md', upgraded);
  await stage('base: as many pods as the autoscalers may make', async () => {
    for (const { metadata, spec } of await list('/apis/autoscaling/v2/namespaces/forum/horizontalpodautoscalers'))
      await kubectl('scale', `deployment/${metadata.name}`, `--replicas=${spec.maxReplicas}`);
    return placed();
  });
  await stage('restore-finish: by docs/operate/backup.md', restored);
  await stage('three-brokers: first start by deploy/README.md', async () => {
    await run('kubectl', 'delete', 'namespace', 'forum', '--timeout=120s');
    const operator = standInForOperator();
    await documented('deploy/README.md', 'kubectl create namespace', 'three-brokers');
    await operator;
    return placed();
  });
}

const kubectl = (...args: string[]) => run('kubectl', '--namespace', 'forum', ...args);

/** Runs the block of commands of a document in which the text is, as an operator who fills in its words. */
async function documented(file: string, has: string, folder: string, edit = (text: string) => text): Promise<void> {
  const document = readFileSync(`/project/${file}`, 'utf8');
  const block = [...document.matchAll(/```sh\n([^]*?)```/g)]
    .map(([, text]) => text!)
    .find((text) => text.includes(has))!;
  const commands = edit(block)
    .replaceAll('REGISTRY', 'registry.example.com')
    .replace('namespace ENGINES', `namespace ${folder === 'base' ? 'engines' : 'forum'}`)
    .replace('INGRESS', 'ingress')
    .replace('MONITORING', 'monitoring')
    .replaceAll('FILE', SECRETS)
    .replaceAll('DIR', `deploy/kubernetes/${folder}`)
    // No pod runs a program here.
    .replaceAll(/^kubectl .* exec .*$/gm, '');
  await run('bash', '-euo', 'pipefail', '-c', `cd /tmp/project; docker() { :; }\n${commands}`);
}

/** Until everything runs. @throws Error when a pod stays without a node, or two of one service share one */
async function placed(): Promise<string> {
  let missing: string[] = [];
  for (let tries = 0; tries < 120; tries += 1) {
    const deployments = await list(`${APPS}/deployments`);
    const scalers = await list('/apis/autoscaling/v2/namespaces/forum/horizontalpodautoscalers');
    const ready = await readyPods();
    missing = deployments
      .filter((one) => {
        const least = scalers.some(({ metadata }) => metadata.name === one.metadata.name);
        const want = Math.max(one.spec.replicas!, least && !ONE_POD.includes(one.metadata.name) ? 2 : 1);
        return ready.filter((pod) => component(pod) === component(one)).length !== want;
      })
      .map(component);
    const jobs = await list('/apis/batch/v1/namespaces/forum/jobs');
    if (deployments.length === 7 && missing.length === 0 && jobs.every((job) => holds(job, 'Complete')))
      return spread(ready);
    await wait(500);
  }
  throw new Error(
    `not ready: ${missing.join(', ')}\n${await kubectl('get', 'events', '--field-selector=type=Warning')}`,
  );
}

async function spread(pods: readonly Item[]): Promise<string> {
  const nodes = (await list('/api/v1/nodes')).filter(({ spec }) => !('unschedulable' in spec));
  const zones = new Map(nodes.map(({ metadata }) => [metadata.name, metadata.labels['topology.kubernetes.io/zone']]));
  for (const [name, group] of Map.groupBy(pods, component)) {
    const used = new Set(group.map(({ spec }) => spec.nodeName!));
    if (used.size < Math.min(group.length, nodes.length))
      throw new Error(`pods of ${name} share a node: ${[...used].join()}`);
    const inZones = new Set([...used].map((node) => zones.get(node)));
    if (inZones.size < Math.min(group.length, new Set(zones.values()).size)) throw new Error(`${name} is in one zone`);
  }
  return `${pods.length} pods are ready; those of a service are on ${nodes.length} nodes and in all zones`;
}

/** How few ready pods each service of several had while the work went on. */
async function fewest(work: Promise<unknown>): Promise<Map<string, number>> {
  const least = new Map<string, number>();
  const over = { is: false };
  const settled = work.finally(() => (over.is = true));
  settled.catch(() => undefined);
  while (!over.is) {
    const counts = Map.groupBy(await readyPods(), component);
    for (const { metadata } of await list(`${APPS}/deployments`)) {
      const count = counts.get(metadata.name)?.length ?? 0;
      least.set(metadata.name, Math.min(least.get(metadata.name) ?? Infinity, count));
    }
    await wait(100);
  }
  await settled;
  return least;
}

async function drained(): Promise<string> {
  const nodes = (await readyPods()).filter((pod) => component(pod) === 'api').map(({ spec }) => spec.nodeName!);
  const options = ['--ignore-daemonsets', '--delete-emptydir-data', '--timeout=120s'];
  const least = await fewest(Promise.all(nodes.map((node) => kubectl('drain', node, ...options))));
  const none = [...least].filter(([name, count]) => count === 0 && !ONE_POD.includes(name)).map(([name]) => name);
  if (none.length > 0) throw new Error(`no pod was ready meanwhile: ${none.join(', ')}`);
  const result = await placed();
  for (const node of nodes) await kubectl('uncordon', node);
  return `a service of two pods kept one; ${result}`;
}

async function upgraded(): Promise<string> {
  await run(
    'bash',
    '-c',
    `cd ${MANIFESTS}/base && kustomize edit set image forum-monitor=registry.example.com/forum-monitor:1.0.1`,
  );
  const least = await fewest(
    documented('deploy/README.md', "component!=api'", 'base').then(() =>
      kubectl('rollout', 'status', 'deployment', '--timeout=120s'),
    ),
  );
  const fewer = [...least].filter(([name, count]) => count < (ONE_POD.includes(name) ? 1 : 2)).map(([name]) => name);
  if (fewer.length > 0) throw new Error(`fewer pods were ready than before: ${fewer.join(', ')}`);
  const images = new Set((await readyPods()).map(({ spec }) => spec.containers![0]!.image));
  if ([...images].join() !== 'registry.example.com/forum-monitor:1.0.1')
    throw new Error(`images: ${[...images].join()}`);
  const [job] = await list('/apis/batch/v1/namespaces/forum/jobs');
  const sets = await list(`${APPS}/replicasets`);
  const newest = sets
    .filter((set) => component(set) === 'api')
    .sort((one, other) => one.metadata.creationTimestamp.localeCompare(other.metadata.creationTimestamp))
    .at(-1)!;
  if (newest.metadata.creationTimestamp < job!.status.completionTime!)
    throw new Error('the API was replaced before the migration');
  return `no service had fewer ready pods than before, the API went last; ${await placed()}`;
}

async function restored(): Promise<string> {
  const file = `${MANIFESTS}/restore-finish/kustomization.yaml`;
  writeFileSync(file, readFileSync(file, 'utf8').replace('--taken-at, TIME]', "--taken-at, '2026-03-04T05:06:07Z']"));
  // Longer than the autoscalers' period of 1 s.
  const pause = 'sleep 4; kubectl --namespace forum get deployment -o jsonpath={.items[*].spec.replicas} > /tmp/left';
  await documented('docs/operate/backup.md', 'job/restore-finish', 'base', (text) =>
    text.replace(
      'kubectl --namespace forum delete job migrate',
      `${pause}\nkubectl --namespace forum delete job migrate`,
    ),
  );
  const left = readFileSync('/tmp/left', 'utf8')
    .split(' ')
    .reduce((sum, replicas) => sum + Number(replicas), 0);
  if (left !== 0) throw new Error(`services had ${left} pods while the restoration was finished`);
  return `no pod of a service meanwhile; then ${await placed()}`;
}

/** What Strimzi's operator would report and make, so that the commands go on. */
async function standInForOperator(): Promise<void> {
  while (
    !(await kubectl('get', 'kafka/forum', 'kafkauser/forum').then(
      () => true,
      () => false,
    ))
  )
    await wait(500);
  await kubectl('create', 'secret', 'generic', 'forum', '--from-literal=password=secret');
  await kubectl('create', 'secret', 'generic', 'forum-cluster-ca-cert', '--from-literal=ca.crt=-');
  const status = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  for (const name of ['kafka/forum', 'kafkauser/forum'])
    await kubectl('patch', name, '--subresource=status', '--type=merge', '--patch', JSON.stringify(status));
}

/** Each container's program with the ConfigMap and the secret, while no engine answers; on an address of its own. */
async function servicesStart(): Promise<string> {
  const manifests = parseAllDocuments(await run('kubectl', 'kustomize', `${MANIFESTS}/base`));
  const built = manifests.map((document) => document.toJS() as Item);
  const settings = built.find(({ kind }) => kind === 'ConfigMap')!.data;
  const secrets: Record<string, string> = {};
  for (const line of readFileSync(SECRETS, 'utf8').split('\n')) {
    const [, name, value] = /^(.*?)=(.*)$/.exec(line)!;
    secrets[name!] = value!;
  }
  const pods = built.filter(({ kind }) => kind === 'Deployment').map(({ spec }) => spec.template!.spec);
  const seconds = await Promise.all(
    pods.map(({ containers, terminationGracePeriodSeconds: grace }, index) => {
      const host = `127.0.0.${index + 2}`;
      const folder = { PATH: process.env['PATH'], NODE_ENV: 'production', DATA_DIR: `/tmp/data-${index}` };
      const env = { ...folder, ...settings, ...secrets, HOST: host, METRICS_HOST: host };
      return startAndEnd(containers[0]!, { env, host, grace: grace! });
    }),
  );
  return `${pods.length} programs; they ended after ${Math.max(...seconds).toFixed(1)} s at most`;
}

async function startAndEnd(
  { args, ports, startupProbe, readinessProbe }: Container,
  { env, host, grace }: { env: NodeJS.ProcessEnv; host: string; grace: number },
): Promise<number> {
  const child = spawn('node', args, { cwd: '/project', env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = new Promise((resolve) => child.once('close', resolve));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const refuse = (what: string) => new Error(`${args.join(' ')} ${what}:\n${said.slice(-2_000)}`);
  const probed = ({ httpGet }: Probe) => {
    const { containerPort } = ports!.find(({ name }) => name === httpGet.port)!;
    return fetch(`http://${host}:${containerPort}${httpGet.path}`).then(
      ({ status }) => status,
      () => 0,
    );
  };
  const until = Date.now() + startupProbe!.periodSeconds * startupProbe!.failureThreshold * 1_000;
  while ((await probed(startupProbe!)) !== 200) {
    if (child.exitCode !== null || Date.now() > until) throw refuse('does not start');
    await wait(200);
  }
  const readiness = await probed(readinessProbe!);
  if (readiness !== 503) throw refuse(`answers its readiness probe without engines by ${readiness}`);
  const from = performance.now();
  child.kill('SIGTERM');
  await closed;
  const seconds = (performance.now() - from) / 1_000;
  if (child.exitCode !== 0 || seconds > grace) throw refuse(`ended by ${child.exitCode} after ${seconds} s`);
  return seconds;
}
