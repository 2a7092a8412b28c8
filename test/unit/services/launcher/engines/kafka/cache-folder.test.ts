import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { cacheFolder } from '../../../../../../services/launcher/engines/kafka/cache-folder.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'forum-cache-folder-'));
  return () => rmSync(root, { recursive: true });
});

const folderFor = (env: NodeJS.ProcessEnv) => cacheFolder({ env, dataDir: join(root, 'data') });

describe('cacheFolder', () => {
  test("is in the user's cache, or else in the home folder", () => {
    const HOME = join(root, 'home');
    expect(folderFor({ HOME })).toBe(join(HOME, '.cache', 'forum-monitor'));
    expect(folderFor({ HOME, XDG_CACHE_HOME: join(root, 'x') })).toBe(join(root, 'x', 'forum-monitor'));
  });

  test.each(['', 'cache', './cache'])('ignores XDG_CACHE_HOME=%j', (XDG_CACHE_HOME) => {
    const HOME = join(root, 'home');
    expect(folderFor({ HOME, XDG_CACHE_HOME })).toBe(join(HOME, '.cache', 'forum-monitor'));
  });

  test('is in the data directory where the cache cannot be written', () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    expect(folderFor({ XDG_CACHE_HOME: file })).toBe(join(root, 'data', 'cache'));
  });

  test('tells when neither can be written', () => {
    writeFileSync(join(root, 'data'), '');
    expect(() => folderFor({ XDG_CACHE_HOME: join(root, 'data') })).toThrow("Kafka's jars cannot be stored");
  });
});
