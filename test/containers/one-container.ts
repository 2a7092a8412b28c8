/** What one container may do, how soon it serves, and how it ends. */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { container, inspect, podman, processOf } from './podman.ts';

const READY = 'http://127.0.0.1:8080/readyz';

/** What the kernel says of the processes, not what was asked for. @throws Error when a container may do more */
export async function confined(services: readonly string[]): Promise<string> {
  for (const service of services) {
    const status = readFileSync(`/proc/${await processOf(service)}/status`, 'utf8');
    const lines = [
      'Uid:\t1000\t1000\t1000\t1000',
      'CapEff:\t0000000000000000',
      'CapBnd:\t0000000000000000',
      'NoNewPrivs:\t1',
    ];
    const missing = lines.filter((line) => !status.includes(line));
    if (missing.length > 0) throw new Error(`${service} runs otherwise: ${missing.join(', ')}`);
    const write = "require('fs').writeFileSync('/app/file', '')";
    const refused = await faultOf(podman('exec', container(service), 'node', '--eval', write));
    if (!/read-only file system/i.test(refused)) throw new Error(`the files of ${service} can be changed: ${refused}`);
    const shell = await faultOf(podman('exec', container(service), '/bin/sh', '-c', 'true'));
    if (!shell.includes('ended with 127')) throw new Error(`${service} has a shell: ${shell}`);
  }
  return 'user 1000, no capability, no new privileges, read-only, no shell';
}

const faultOf = (work: Promise<string>) => work.then(() => '', String);

/** Starts the API beside engines that run. Returns how long it took until it was ready. */
export async function startToReady(): Promise<string> {
  await podman('stop', container('api'));
  const started = performance.now();
  await podman('start', container('api'));
  const created = performance.now();
  while ((await fetch(READY).catch(() => undefined))?.ok !== true) await wait(20);
  const seconds = (from: number) => ((performance.now() - from) / 1_000).toFixed(1);
  const whole = seconds(started);
  return `${seconds(created)} s, and with what Podman does before ${whole} s`;
}

/** Stops the API at moments of its start. @throws Error when it had to be killed */
export async function stopWhileStarting(): Promise<string> {
  const ends: string[] = [];
  await podman('stop', container('api'));
  for (const delay of [0, 200, 1_000]) {
    await podman('start', container('api'));
    await wait(delay);
    const from = performance.now();
    await podman('stop', '--time', '20', container('api'));
    const seconds = ((performance.now() - from) / 1_000).toFixed(1);
    const code = await inspect('api', '.State.ExitCode');
    if (code === '137') throw new Error(`the API ignored a SIGTERM ${delay} ms after its start`);
    ends.push(`${delay} ms: ${seconds} s`);
  }
  await podman('start', container('api'));
  return `after its start, until it had ended: ${ends.join(', ')}`;
}
