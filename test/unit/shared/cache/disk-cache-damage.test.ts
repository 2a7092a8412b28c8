import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CacheFolder } from '../../../support/fixtures/cache-folder.ts';

let files: CacheFolder;
beforeEach(async () => {
  files = new CacheFolder();
  const cache = await files.open();
  for (let i = 0; i < 400; i += 1) cache.set(`k${i}`, Buffer.alloc(5000, i), files.now + 1000 + i);
  await cache.close();
});
afterEach(() => files.remove());

const stateFile = () => join(dirname(files.dataFile), 'state');

/** Each of these ends a process that opens or reads the file, with a signal or an error. */
const damages: [string, (file: string) => void][] = [
  ['is not an LMDB file', (file) => writeFileSync(file, randomBytes(statSync(file).size))],
  ['ends after its first page', (file) => truncateSync(file, 4096)],
  ['lost its second half', (file) => truncateSync(file, statSync(file).size / 2)],
  [
    'has random bytes after its header',
    (file) => {
      const data = readFileSync(file);
      randomBytes(data.length - 8192).copy(data, 8192);
      writeFileSync(file, data);
    },
  ],
];

describe('a damaged file', () => {
  test.each(damages)('that %s is replaced by an empty one and reported', async (_, damage) => {
    damage(files.dataFile);
    const cache = await files.open();
    expect(files.messages).toEqual([expect.stringMatching(/^the disk cache starts empty: it is damaged \(.+\)$/)]);
    expect([cache.size, cache.bytes, cache.get('k7')]).toEqual([0, 0, undefined]);
    cache.set('new', Buffer.from('value'), files.now + 1000);
    await cache.close();
    const again = await files.open();
    expect(again.get('new')?.value.toString()).toBe('value');
    expect(files.messages).toHaveLength(1);
  });

  test('with damaged values loses only these and reports them', async () => {
    const data = readFileSync(files.dataFile);
    const at = data.indexOf(Buffer.alloc(4000, 7));
    data[at + 100]! += 1;
    writeFileSync(files.dataFile, data);
    const cache = await files.open();
    expect(cache.size).toBe(400);
    expect(cache.get('k7')).toBeUndefined();
    expect(files.messages).toEqual(['a damaged entry of the disk cache was removed']);
    expect(cache.get('k8')?.value).toEqual(Buffer.alloc(5000, 8));
    cache.flush();
    expect(cache.size).toBe(399);
  });
});

describe('a file that is not reused', () => {
  test('was open when the machine restarted', async () => {
    writeFileSync(stateFile(), 'the id of another boot');
    const cache = await files.open();
    expect(files.messages).toEqual([expect.stringMatching('not closed before the machine was restarted')]);
    expect(cache.size).toBe(0);
  });
});

/** The files that a killed process leaves: a copy of the files while they are open. */
async function copyOfOpen(): Promise<CacheFolder> {
  const left = new CacheFolder();
  left.now = files.now;
  mkdirSync(dirname(left.dataFile), { recursive: true });
  copyFileSync(files.dataFile, left.dataFile);
  copyFileSync(stateFile(), join(dirname(left.dataFile), 'state'));
  return left;
}

describe.runIf(process.platform === 'linux')('a process that is killed', () => {
  test('several times in a row may have been killed by the file, which is then replaced', async () => {
    await files.open();
    let left = files;
    const sizes: number[] = [];
    for (let i = 0; i < 3; i += 1) {
      const before = left;
      left = await copyOfOpen();
      sizes.push((await left.open()).size);
      copyFileSync(join(dirname(left.dataFile), 'state'), stateFile());
      expect(left.messages).toEqual(
        i < 2 ? [] : ['the disk cache starts empty: 3 processes in a row ended without closing it'],
      );
      if (before !== files) await before.remove();
    }
    await left.remove();
    expect(sizes).toEqual([400, 400, 0]);
  });
});

describe('a file that ends before its last page', () => {
  test('is damaged when a value is missing', async () => {
    const cache = await files.open();
    cache.set('last', Buffer.alloc(200_000, 1), files.now + 5000);
    await cache.close();
    truncateSync(files.dataFile, statSync(files.dataFile).size - 100_000);
    const again = await files.open();
    expect(files.messages).toEqual(['the disk cache starts empty: it is damaged (the file is too short)']);
    expect(again.size).toBe(0);
  });
});
