import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseChecksums, verifyJars } from '../../../../../../services/launcher/engines/kafka/verify-jars.ts';

// SHA-256 of "one" and "two".
const ONE = '7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed';
const TWO = '3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3';
const CHECKSUMS = parseChecksums(`${ONE}  one.jar\n${TWO}  two-1.0.jar\n`);

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forum-jars-'));
  writeFileSync(join(folder, 'one.jar'), 'one');
  writeFileSync(join(folder, 'two-1.0.jar'), 'two');
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('the jars of the embedded broker', () => {
  test('are accepted with the content expected; other files beside them do not matter', () => {
    writeFileSync(join(folder, 'classes.jsa'), 'an archive of classes');
    expect(() => {
      verifyJars(folder, CHECKSUMS);
    }).not.toThrow();
  });

  test.each([
    ['changed', 'one.jar', () => writeFileSync(join(folder, 'one.jar'), 'onf')],
    ['missing', 'two-1.0.jar', () => rmSync(join(folder, 'two-1.0.jar'))],
    ['not expected', 'extra.jar', () => writeFileSync(join(folder, 'extra.jar'), 'one')],
  ])('one that is %s is refused by name', (_what, name, change) => {
    change();
    expect(() => {
      verifyJars(folder, CHECKSUMS);
    }).toThrow(name);
  });

  test('the list in the repository has a whole digest for each jar, the broker among them', () => {
    const file = join(import.meta.dirname, '../../../../../../services/launcher/engines/kafka/jars.sha256');
    const checksums = parseChecksums(readFileSync(file, 'utf8'));
    expect([...checksums.keys()].filter((name) => /^kafka_2\.13-[\d.]+\.jar$/.test(name))).toHaveLength(1);
    for (const [name, digest] of checksums) {
      expect(name).toMatch(/\.jar$/);
      expect(digest).toMatch(/^[0-9a-f]{64}$/);
    }
  });
});
