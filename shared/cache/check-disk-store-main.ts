/**
 * Checks a disk store in a separate process, because reading a damaged LMDB file, or even opening it, may end the
 * process with a signal (SIGSEGV, SIGBUS). Exit code 0: sound. Any other: damaged; stdout has the reason.
 *
 * Usage: node check-disk-store-main.ts FOLDER
 */
import { DiskStore } from './disk-store.ts';

const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: check-disk-store-main.ts FOLDER');
const store = new DiskStore(folder);
const fault = store.findFault(folder);
await store.close();
if (fault !== undefined) {
  process.stdout.write(fault);
  process.exitCode = 1;
}
