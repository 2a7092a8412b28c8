import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import type { RunningEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import type { EngineName } from '../../../shared/runtime/errors.ts';
import { TcpProxy } from '../fakes/tcp-proxy.ts';
import { Installation } from './installation.ts';

const ENGINES = ['kafka', 'postgres', 'clickhouse'] as const;
const RESTART_AFTER_MS = 1_000;
/** Of an engine's own disk, if it has one. */
const DISK_MB = { kafka: 512, postgres: 512, clickhouse: 256 };

/**
 * An installation whose engines are servers of their own, each behind a relay that can be cut or slowed, and on a small
 * disk of its own that can be filled. An engine that ends is started again, as a service manager does.
 */
export class ProxiedInstallation {
  readonly installation: Installation;
  readonly engines: RunningEngines;
  readonly proxies: Record<EngineName, TcpProxy>;
  readonly #folder: string;
  readonly #mounted: ReadonlyMap<EngineName, string>;
  #isStopping = false;

  private constructor(parts: {
    folder: string;
    engines: RunningEngines;
    mounted: ReadonlyMap<EngineName, string>;
    proxies: Record<EngineName, TcpProxy>;
    installation: Installation;
  }) {
    this.#folder = parts.folder;
    this.#mounted = parts.mounted;
    this.engines = parts.engines;
    this.proxies = parts.proxies;
    this.installation = parts.installation;
    for (const name of ENGINES) this.#restartWhenItEnds(name);
  }

  /** @param disks the engines that get a disk of their own, where this user may mount one */
  static async start(env: Record<string, string>, disks: readonly EngineName[]): Promise<ProxiedInstallation> {
    const folder = mkdtempSync(join(tmpdir(), 'forum-test-proxied-'));
    const start = () => startEngines({ dataDir: folder, env: process.env });
    const mounted = new Map<EngineName, string>();
    if (disks.length > 0) {
      // Created on the common disk and then moved, because engines rename their new folders into place.
      await (await start()).stop();
      for (const name of disks) if (giveDisk(join(folder, name), DISK_MB[name])) mounted.set(name, join(folder, name));
    }
    const engines = await start();
    const proxies = {
      kafka: await TcpProxy.startKafka(engines.urls.kafka),
      postgres: await TcpProxy.start(engines.urls.postgres),
      clickhouse: await TcpProxy.start(engines.urls.clickhouse),
    };
    const installation = await Installation.prepare({
      SECRET_KEY: 'a key of a test, which is not used anywhere else',
      SIMULATOR_EMITTED_LOG: join(folder, 'emitted.jsonl'),
      KAFKA_BROKERS: proxies.kafka.url.replace('kafka://', ''),
      DATABASE_URL: proxies.postgres.url,
      CLICKHOUSE_URL: proxies.clickhouse.url,
      ...env,
    });
    const whole = new ProxiedInstallation({ folder, engines, mounted, proxies, installation });
    try {
      await installation.start(120_000);
      // Commands of admin go past the relays: while one runs, this process waits for it and relays nothing.
      installation.env.DATABASE_URL = engines.urls.postgres;
      return whole;
    } catch (error) {
      await whole.remove();
      throw error;
    }
  }

  hasDisk(name: EngineName): boolean {
    return this.#mounted.has(name);
  }

  /** Fills the disk of an engine that has one. @returns a function that frees the space */
  fill(name: EngineName): () => void {
    const path = join(this.#mounted.get(name)!, 'filler');
    const file = openSync(path, 'w');
    for (const bytes of [1 << 20, 4_096]) writeUntilFull(file, Buffer.alloc(bytes));
    closeSync(file);
    return () => rmSync(path);
  }

  async remove(): Promise<void> {
    for (const name of ENGINES) {
      this.proxies[name].comeBack();
      this.proxies[name].delayAnswers(0);
    }
    await this.installation.remove();
    this.#isStopping = true;
    await Promise.all(ENGINES.map((name) => this.proxies[name].stop()));
    await this.engines.stop();
    for (const folder of this.#mounted.values()) execFileSync('umount', ['-l', folder]);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #restartWhenItEnds(name: EngineName): void {
    void this.engines.process(name).exited.then(() => this.#restart(name));
  }

  async #restart(name: EngineName): Promise<void> {
    for (;;) {
      await wait(RESTART_AFTER_MS);
      if (this.#isStopping) return;
      try {
        await this.engines.restart(name);
        this.#restartWhenItEnds(name);
        return;
      } catch {
        // Its disk is still full.
      }
    }
  }
}

/** Moves a folder to a disk of its own. @returns whether this user may */
function giveDisk(folder: string, megabytes: number): boolean {
  const moved = `${folder}.moved`;
  renameSync(folder, moved);
  mkdirSync(folder);
  let isMounted = true;
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch {
    isMounted = false;
  }
  execFileSync('cp', ['-a', `${moved}/.`, folder]);
  return isMounted;
}

function writeUntilFull(file: number, chunk: Buffer): void {
  try {
    while (writeSync(file, chunk) === chunk.length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
