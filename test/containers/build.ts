import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { PROGRAMS, SETTINGS } from './neighbours.ts';
import { composeWith, ENV_FILE, podman, run, stage } from './podman.ts';

const IMAGE = 'forum-monitor:1.0.0';
/** A copy as a registry would get it. */
const PUSHED = '/var/lib/containers/pushed';
const ENGINES = ['kafka', 'postgres', 'clickhouse'];

/** Builds the image of deploy/Dockerfile on a stand-in for its base, and stand-ins for the engines' images. */
export async function build(): Promise<void> {
  const trial = readFileSync('/project/deploy/compose/trial.env', 'utf8');
  const settings = Object.entries({ WEBHOOK_ALLOW_PRIVATE: '1', ...SETTINGS });
  writeFileSync(ENV_FILE, [trial, ...settings.map(([name, value]) => `${name}=${value}\n`)].join(''));
  const base = /NODE_IMAGE=(\S+)/.exec(readFileSync('/project/deploy/Dockerfile', 'utf8'))![1]!;
  await stage(`base image (${base})`, async () => {
    await load('base', base);
  });
  // OCI's format has no health checks. npm reads the registry's settings beside its own folder.
  const options = `--network host --format docker --volume /images/npm:/usr/local/etc:ro`;
  await stage('deploy/Dockerfile', async () => {
    await composeWith([`--podman-build-args=${options}`], 'build', 'api');
  });
  await stage('size of the image', () => size(base));
  await stage('images of the engines', async () => {
    await load('engines', 'engines');
    const { services } = parse(readFileSync('/project/deploy/compose.yaml', 'utf8'), { merge: true }) as {
      services: Record<string, { image: string }>;
    };
    const folder = '/project/test/containers/engines';
    for (const name of ENGINES) {
      const names = ['--target', name, '--tag', services[name]!.image];
      await podman(
        'build',
        '--file',
        `${folder}/Containerfile`,
        '--build-context=jars=/images/kafka',
        ...names,
        folder,
      );
    }
  });
  await stage('images of the neighbours', buildNeighbours);
}

export async function buildNeighbours(): Promise<void> {
  await load('neighbours', 'neighbours');
  const { services } = parse(readFileSync('/project/deploy/compose.yaml', 'utf8'), { merge: true }) as {
    services: Record<string, { image: string }>;
  };
  const images = { prometheus: services['prometheus']!.image, 'node-exporter': services['machine']!.image };
  const targets = { ...images, proxy: 'proxy', ...(PROGRAMS && { programs: 'programs' }) };
  const folder = '/project/test/containers/neighbours';
  for (const [target, image] of Object.entries(targets)) {
    const options = ['--file', `${folder}/Containerfile`, `--build-context=programs=${PROGRAMS}`];
    await podman('build', ...options, '--target', target, '--tag', image, folder);
  }
}

async function size(base: string): Promise<string> {
  const megabytes = async (name: string) =>
    Math.round(Number(await podman('image', 'inspect', '--format', '{{.Size}}', name)) / 1e6);
  await podman('save', '--quiet', '--format', 'docker-dir', '--compress', '--output', PUSHED, IMAGE);
  const files = readdirSync(PUSHED).map((file) => statSync(join(PUSHED, file)).size);
  rmSync(PUSHED, { recursive: true });
  const compressed = Math.round(files.reduce((sum, bytes) => sum + bytes, 0) / 1e6);
  return `${await megabytes(IMAGE)} MB, of which base ${await megabytes(base)} MB; ${compressed} MB compressed`;
}

const load = (folder: string, image: string) =>
  run('bash', '-o', 'pipefail', '-c', `tar -C /images/${folder} -c . | podman import --quiet - ${image}`);
