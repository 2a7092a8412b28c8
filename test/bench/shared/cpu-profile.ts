import { setTimeout as wait } from 'node:timers/promises';

interface Frame {
  functionName: string;
  url: string;
  /** From 0. */
  lineNumber: number;
}

interface Node {
  id: number;
  callFrame: Frame;
  children?: number[];
}

/** As the inspector returns it: samples name their node, and `timeDeltas` are the microseconds before each. */
export interface CpuProfile {
  nodes: Node[];
  samples: number[];
  timeDeltas: number[];
}

export interface Profiling {
  /** Ends the profile and closes the connection. */
  stop(): Promise<CpuProfile>;
}

/** A process opens its inspector at this port when it gets SIGUSR1; one process at a time can have it. */
const INSPECTOR_PORT = 9_229;
const INTERVAL_US = 1_000;
const OPEN_TRIES = 50;
const OPEN_PAUSE_MS = 100;

/** Starts to sample what a running Node process does, once a millisecond. */
export async function startProfile(pid: number): Promise<Profiling> {
  process.kill(pid, 'SIGUSR1');
  const socket = new WebSocket(await inspectorUrl());
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => {
      reject(new Error(`the inspector of process ${pid} does not answer`));
    };
  });
  const waiting = new Map<number, (result: unknown) => void>();
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  };
  let calls = 0;
  const call = (method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve) => {
      calls += 1;
      waiting.set(calls, resolve);
      socket.send(JSON.stringify({ id: calls, method, params }));
    });
  await call('Profiler.enable');
  await call('Profiler.setSamplingInterval', { interval: INTERVAL_US });
  await call('Profiler.start');
  return {
    async stop() {
      const { profile } = (await call('Profiler.stop')) as { profile: CpuProfile };
      socket.close();
      return profile;
    },
  };
}

async function inspectorUrl(): Promise<string> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const answer = await fetch(`http://127.0.0.1:${INSPECTOR_PORT}/json`);
      const [target] = (await answer.json()) as { webSocketDebuggerUrl: string }[];
      return target!.webSocketDebuggerUrl;
    } catch (error) {
      if (attempt === OPEN_TRIES) throw error;
      await wait(OPEN_PAUSE_MS);
    }
  }
}

export interface Share {
  name: string;
  /** Of the time in which the process worked. */
  percent: number;
}

const IDLE = new Set(['(idle)']);

/** The shares of the time that the process worked, by the function that ran, the largest first. */
export function sharesByFunction(profile: CpuProfile): Share[] {
  return shares(profile, ([frame]) => `${frame!.functionName || '(anonymous)'} ${shortened(frame!.url)}`);
}

/**
 * The same by part of the program: the innermost frame that is in a folder of `services` or `shared` or in a package
 * counts, so what a part calls of Node counts as the part's. Garbage collection has its own share.
 */
export function sharesByPart(profile: CpuProfile): Share[] {
  return shares(profile, (frames) => {
    if (frames[0]!.functionName === '(garbage collector)') return 'garbage collection';
    return frames.map(({ url }) => partOf(url)).find((part) => part !== undefined) ?? 'node';
  });
}

/** @param nameOf receives the frames of a sample, the innermost first */
function shares({ nodes, samples, timeDeltas }: CpuProfile, nameOf: (frames: readonly Frame[]) => string): Share[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const names = new Map(
    nodes.map(({ id }) => {
      const frames: Frame[] = [];
      for (let at: number | undefined = id; at !== undefined; at = parents.get(at))
        frames.push(byId.get(at)!.callFrame);
      return [id, IDLE.has(frames[0]!.functionName) ? undefined : nameOf(frames)] as const;
    }),
  );
  const times = new Map<string, number>();
  let total = 0;
  for (const [index, sample] of samples.entries()) {
    const name = names.get(sample);
    if (name === undefined) continue;
    total += timeDeltas[index]!;
    times.set(name, (times.get(name) ?? 0) + timeDeltas[index]!);
  }
  return [...times]
    .map(([name, us]) => ({ name, percent: Math.round((1_000 * us) / total) / 10 }))
    .sort((a, b) => b.percent - a.percent);
}

const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)\//;
const FOLDER = /\/((?:services|shared)\/[^/]+|schemas)\//;

function partOf(url: string): string | undefined {
  return PACKAGE.exec(url)?.[1] ?? FOLDER.exec(url)?.[1];
}

function shortened(url: string): string {
  return url.replace(/^.*\/(node_modules|services|shared|schemas)\//, '$1/');
}
