import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { programs, run } from './podman.ts';

const FOLDER = '/tmp/kubernetes';
const KUBECONFIG = '/root/.kube/config';
const PROXY = 'http://127.0.0.1:8001';

/** What the API server answers to an administrator. */
export async function api(path: string): Promise<unknown> {
  const answer = await fetch(`${PROXY}${path}`);
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

/** Starts the programs of a control plane, and kwok in the place of each node's kubelet. */
export async function startCluster(): Promise<void> {
  mkdirSync(FOLDER);
  mkdirSync('/root/.kube', { recursive: true });
  writeFileSync('/etc/hosts', '127.0.0.1 localhost\n');
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const write = (name: string, content: unknown) => {
    writeFileSync(`${FOLDER}/${name}`, typeof content === 'string' ? content : JSON.stringify(content));
    return `${FOLDER}/${name}`;
  };
  const key = write('key.pem', privateKey);
  const user = { name: 'admin', user: { token: 'admin' } };
  const cluster = { name: 'here', cluster: { server: 'https://127.0.0.1:6443', 'insecure-skip-tls-verify': true } };
  const context = { name: 'here', context: { cluster: 'here', user: 'admin' } };
  const config = { apiVersion: 'v1', kind: 'Config', 'current-context': 'here' };
  writeFileSync(KUBECONFIG, JSON.stringify({ ...config, users: [user], clusters: [cluster], contexts: [context] }));
  // Every pod must fit the strictest of Kubernetes' own profiles.
  const pods = { apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration' };
  const strict = { name: 'PodSecurity', configuration: { ...pods, defaults: { enforce: 'restricted' } } };
  const admission = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', plugins: [strict] };

  const folder = programs('kubernetes')!;
  const kwok = programs('kwok')!;
  const etcd = ['--data-dir', `${FOLDER}/etcd`, '--unsafe-no-fsync'];
  start('etcd', ...etcd);
  start(
    `${folder}/kube-apiserver`,
    '--etcd-servers=http://127.0.0.1:2379',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--advertise-address=127.0.0.1',
    '--bind-address=127.0.0.1',
    `--cert-dir=${FOLDER}`,
    `--token-auth-file=${write('tokens.csv', 'admin,admin,admin,system:masters\n')}`,
    `--admission-control-config-file=${write('admission.json', admission)}`,
    '--authorization-mode=Node,RBAC',
    '--service-account-issuer=https://here',
    `--service-account-key-file=${write('public.pem', publicKey)}`,
    `--service-account-signing-key-file=${key}`,
  );
  start('kubectl', 'proxy', '--port=8001');
  await until(() => api('/api/v1/namespaces/default'));
  const client = [`--kubeconfig=${KUBECONFIG}`];
  const controllers = [`--service-account-private-key-file=${key}`, '--horizontal-pod-autoscaler-sync-period=1s'];
  start(`${folder}/kube-controller-manager`, ...client, ...controllers, '--leader-elect=false');
  start(`${folder}/kube-scheduler`, ...client, '--leader-elect=false');
  start(
    `${kwok}/kwok`,
    ...client,
    `--config=${kwok}/stages.yaml`,
    '--manage-all-nodes',
    '--node-lease-duration-seconds=40',
  );
  const size = { cpu: '4', memory: '8Gi', pods: '110' };
  for (const [index, zone] of ['a', 'b', 'b', 'a'].entries()) {
    const name = `node-${index + 1}`;
    const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': zone };
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } };
    await run(
      'kubectl',
      'create',
      '-f',
      write('node.json', { ...node, status: { capacity: size, allocatable: size } }),
    );
  }
  for (const name of ['engines', 'ingress', 'monitoring']) await run('kubectl', 'create', 'namespace', name);
  await run('kubectl', 'wait', '--for=condition=Ready', 'node', '--all', '--timeout=60s');
}

/** Begins a program, which ends with the namespaces. */
function start(program: string, ...args: string[]): void {
  const file = `${FOLDER}/${program.split('/').at(-1)!}.log`;
  const log = openSync(file, 'a');
  spawn(program, args, { stdio: ['ignore', log, log] }).once('exit', (code) => {
    console.error(`${program} ended with ${code}:\n${readFileSync(file, 'utf8').slice(-3_000)}`);
    process.exit(1);
  });
}

async function until(work: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (tries === 300) throw error;
      await wait(200);
    }
  }
}

/** The definitions that Strimzi's own generator writes from its published classes; once, because it takes a while. */
export async function strimziDefinitions(): Promise<string> {
  const folder = '/images/strimzi';
  const made = `${folder}/definitions.yaml`;
  if (!existsSync(made)) {
    const jars = readdirSync(folder).filter((file) => file.endsWith('.jar'));
    const versions = [
      '--target-kube',
      '1.27+',
      '--crd-api-version',
      'v1',
      '--api-versions',
      'v1',
      '--storage-version',
      'v1',
    ];
    const kinds = ['kafka.Kafka', 'nodepool.KafkaNodePool', 'user.KafkaUser'];
    const files = kinds.map((kind) => `io.strimzi.api.kafka.model.${kind}=${FOLDER}/${kind}.yaml`);
    const classes = jars.map((jar) => `${folder}/${jar}`).join(':');
    await run('java', '-cp', classes, 'io.strimzi.crdgenerator.CrdGenerator', ...versions, '--yaml', ...files);
    const all = kinds.map((kind) => readFileSync(`${FOLDER}/${kind}.yaml`, 'utf8'));
    writeFileSync(`${made}.new`, all.join('\n---\n'));
    renameSync(`${made}.new`, made);
  }
  // Applied by the client they would be too long for its annotation.
  await run('kubectl', 'create', '-f', made);
  // It fails on one that has no state yet.
  await until(() => run('kubectl', 'wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s'));
  return 'Kafka, KafkaNodePool and KafkaUser of 1.2.0';
}
