/**
 * Checks a disk store in a process of its own, because reading a damaged LMDB file may end the process by a signal
 * (SIGSEGV, SIGBUS), even on opening it. Exit code 0: sound. Anything else: damaged; what was found stands on stdout.
 *
 * Usage: node check-disk-store-main.ts FOLDER
 */
import { DiskStore } from './disk-store.ts';

const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: check-disk-store-main.ts FOLDER');
const store = new DiskStore(folder);
const fault = store.fault(folder);
await store.close();
if (fault !== undefined) {
  process.stdout.write(fault);
  process.exitCode = 1;
}
