import { describe, expect, test } from 'vitest';
import { Supervisor } from '../../../../services/launcher/supervisor.ts';
import type { SupervisedProcess } from '../../../../services/launcher/supervisor.ts';
import type { OwnedProcess, ProcessEnd } from '../../../../services/launcher/engines/owned-process.ts';

/** A process whose end the test controls. */
class Puppet {
  private resolve!: (end: ProcessEnd) => void;
  readonly exited = new Promise<ProcessEnd>((resolve) => (this.resolve = resolve));
  private readonly onStop: () => void;

  constructor(onStop: () => void) {
    this.onStop = onStop;
  }

  die(): void {
    this.resolve({ code: null, signal: 'SIGKILL' });
  }

  stop(): Promise<ProcessEnd> {
    this.onStop();
    this.resolve({ code: 0, signal: null });
    return this.exited;
  }
}

function stage() {
  const time = { now: 0 };
  const log: string[] = [];
  const given: string[] = [];
  const warnings: string[] = [];
  const supervisor = new Supervisor({
    clock: () => time.now,
    wait: (ms, signal) => {
      time.now += ms;
      return new Promise((resolve) => (signal.aborted ? resolve() : setImmediate(resolve)));
    },
    progress: () => undefined,
    warn: (line) => warnings.push(line),
    giveUp: (reason) => given.push(reason),
  });
  const running = new Map<string, Puppet>();
  const part = (
    name: string,
    kind: SupervisedProcess['kind'],
    startFault: () => string | undefined = () => undefined,
    more: Pick<SupervisedProcess, 'isOptional' | 'externalCause'> = {},
  ) => {
    const start = async () => {
      const fault = startFault();
      if (fault !== undefined) throw new Error(fault);
      log.push(`start ${name}`);
      const puppet = new Puppet(() => log.push(`stop ${name}`));
      running.set(name, puppet);
      return puppet as unknown as OwnedProcess;
    };
    return start().then((process) => supervisor.supervise({ name, kind, process, start, ...more }));
  };
  const kill = (name: string) => running.get(name)?.die();
  return { time, log, warnings, given, supervisor, part, kill };
}

const settle = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe('Supervisor', () => {
  test('starts nothing after a stop', async () => {
    const { log, supervisor, part, kill } = stage();
    await part('kafka', 'engine');
    const stopped = supervisor.stop();
    kill('kafka');
    await stopped;
    await settle();
    expect(log.filter((line) => line.startsWith('start'))).toEqual(['start kafka']);
  });

  test('an engine whose disk is full is not restarted until there is room, and never given up', async () => {
    const { log, warnings, given, supervisor, part, kill } = stage();
    let looks = 0;
    const externalCause = () => Promise.resolve(looks++ < 100 ? 'the disk is full' : undefined);
    await part('postgres', 'engine', () => undefined, { externalCause });
    kill('postgres');
    await settle();
    expect([looks > 1, log, warnings]).toEqual([
      true,
      ['start postgres'],
      ['postgres ended (SIGKILL; the disk is full); it restarts when that is over'],
    ]);
    for (let turn = 0; turn < 20; turn++) await settle();
    expect(given).toEqual([]);
    expect(log).toEqual(['start postgres', 'start postgres']);
    expect(warnings).toHaveLength(1);
    await supervisor.stop();
  });

  test('gives up after five deaths of one process within a minute and reports the reason', async () => {
    const { given, supervisor, part, kill } = stage();
    await part('postgres', 'engine');
    for (let death = 0; death < 5; death++) {
      kill('postgres');
      await settle();
    }
    expect(given).toEqual(['postgres ended five times within a minute; the last reason: SIGKILL']);
    await supervisor.stop();
  });

  test('starts the services only while every engine is running', async () => {
    const { log, supervisor, part, kill } = stage();
    let broken = false;
    await part('kafka', 'engine', () => (broken ? 'still down' : undefined));
    await part('services', 'services');
    broken = true;
    kill('kafka');
    kill('services');
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(log).toEqual(['start kafka', 'start services']);
    broken = false;
    await settle();
    expect(log.slice(2)).toEqual(['start kafka', 'start services']);
    await supervisor.stop();
  });

  test("does not count deaths of the services around an engine's death", async () => {
    const { time, given, supervisor, part, kill } = stage();
    await part('kafka', 'engine');
    await part('services', 'services');
    kill('kafka');
    await settle();
    for (let death = 0; death < 8; death++) {
      kill('services');
      await settle();
    }
    expect(given).toEqual([]);
    time.now += 30_000;
    for (let death = 0; death < 5; death++) {
      kill('services');
      await settle();
    }
    expect(given).toHaveLength(1);
    await supervisor.stop();
  });
});
