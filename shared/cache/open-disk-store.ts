import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { LAYOUT } from './disk-entry.ts';
import { DiskStore } from './disk-store.ts';

const CHECK = fileURLToPath(new URL('./check-disk-store-main.ts', import.meta.url));
const CHECK_TIMEOUT_MS = 60_000;
const BOOT_ID = '/proc/sys/kernel/random/boot_id';
/**
 * How the store was left: CLOSED, or in use, with the boot of the machine and how often in a row it was found in use.
 */
const STATE_FILE = 'state';
const CLOSED = 'closed';
/** Processes in a row that ended without closing the store; the store may be the cause. */
const MAX_UNCLOSED = 3;
/**
 * The file never shrinks. One that has outgrown its limit by more than files normally do, because the limit was
 * lowered, is not reused.
 */
const MAX_GROWTH = 3;
const GROWTH_ALLOWANCE_BYTES = 1_000_000;

type State = typeof CLOSED | { unclosed: number; boot: string };

export interface OpenDiskStoreOptions {
  folder: string;
  /** Version of the values, a whole number. */
  format: number;
  maxBytes: number;
  /** Called when the cache starts empty although there was one. */
  onProblem: (message: string, error?: unknown) => void;
}

/**
 * Opens the store of this layout and format in the folder, and removes stores of others. An existing store is reused if
 * it is sound, and replaced by an empty one otherwise. It is sound when it
 *
 * - was closed, or at least was in use since the machine started (without `fsync` a file may be in any state after a
 *   restart),
 * - was not left unclosed several times in a row,
 * - passes a check in another process.
 *
 * @throws when the folder cannot be used at all
 */
export async function openDiskStore(options: OpenDiskStoreOptions): Promise<DiskStore> {
  const current = `v${LAYOUT}-${options.format}`;
  const path = join(options.folder, current);
  mkdirSync(options.folder, { recursive: true });
  for (const name of readdirSync(options.folder)) {
    if (/^v\d+-\d+$/.test(name) && name !== current) remove(join(options.folder, name));
  }
  let unclosed = 0;
  if (existsSync(join(path, 'data.mdb'))) {
    const leftState = readState(path);
    const fault = await findFault(path, leftState, options.maxBytes);
    if (fault !== undefined) {
      options.onProblem(`the disk cache starts empty: ${fault}`);
      remove(path);
    } else if (leftState !== CLOSED) {
      unclosed = leftState.unclosed + 1;
    }
  }
  mkdirSync(path, { recursive: true });
  await writeState(path, `${unclosed} ${bootId()}`);
  return new DiskStore(path);
}

/** Closes the store so that it can be reused even after a restart of the machine. */
export async function closeDiskStore(store: DiskStore, options: { folder: string; format: number }): Promise<void> {
  const path = join(options.folder, `v${LAYOUT}-${options.format}`);
  await store.close();
  const file = await open(join(path, 'data.mdb'), 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  await writeState(path, CLOSED);
}

async function findFault(path: string, leftState: State, maxBytes: number): Promise<string | undefined> {
  if (leftState !== CLOSED) {
    if (leftState.boot === '' || leftState.boot !== bootId())
      return 'it was not closed before the machine was restarted';
    if (leftState.unclosed + 1 >= MAX_UNCLOSED) return `${MAX_UNCLOSED} processes in a row ended without closing it`;
  }
  const { size } = statSync(join(path, 'data.mdb'));
  if (size > MAX_GROWTH * maxBytes + GROWTH_ALLOWANCE_BYTES) return `its file of ${size} bytes has outgrown its bound`;
  try {
    await promisify(execFile)(process.execPath, [CHECK, path], { timeout: CHECK_TIMEOUT_MS, killSignal: 'SIGKILL' });
    return undefined;
  } catch (error) {
    const { signal, stdout } = error as { signal?: string | null; stdout?: string };
    return `it is damaged (${stdout || signal || 'it cannot be opened'})`;
  }
}

/** Identifies the current boot of the machine; '' where the system does not provide it. */
function bootId(): string {
  return existsSync(BOOT_ID) ? readFileSync(BOOT_ID, 'utf8').trim() : '';
}

function readState(path: string): State {
  const file = join(path, STATE_FILE);
  const state = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (state === CLOSED) return CLOSED;
  const [unclosed = '', boot = ''] = state.split(' ');
  return { unclosed: Number.parseInt(unclosed, 10) || 0, boot };
}

async function writeState(path: string, state: string): Promise<void> {
  const file = await open(join(path, STATE_FILE), 'w');
  try {
    await file.writeFile(state);
    await file.sync();
  } finally {
    await file.close();
  }
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
