import { setTimeout as wait } from 'node:timers/promises';

export interface Profiling {
  /** Ends the profile and closes the connection. */
  stop(): Promise<object>;
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
      const { profile } = (await call('Profiler.stop')) as { profile: object };
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
