import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseJars, verifyJars } from '../../../../../../services/launcher/engines/kafka/verify-jars.ts';

// SHA-256 of "one" and "two".
const ONE = '7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed';
const TWO = '3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3';
const JARS = parseJars(`${ONE}  a/one/1/one.jar\n${TWO}  a/b/two/1.0/two-1.0.jar\n`);

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forum-jars-'));
  writeFileSync(join(folder, 'one.jar'), 'one');
  writeFileSync(join(folder, 'two-1.0.jar'), 'two');
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('verifyJars', () => {
  test.each([
    ['changed', 'one.jar', () => writeFileSync(join(folder, 'one.jar'), 'onf')],
    ['missing', 'two-1.0.jar', () => rmSync(join(folder, 'two-1.0.jar'))],
    ['not expected', 'extra.jar', () => writeFileSync(join(folder, 'extra.jar'), 'one')],
  ])('refuses a jar that is %s, and names it', (_fault, name, change) => {
    change();
    expect(() => {
      verifyJars(folder, JARS);
    }).toThrow(name);
  });

  test('finds a complete digest for each jar in the list of the repository, including the broker', () => {
    const file = join(import.meta.dirname, '../../../../../../services/launcher/engines/kafka/jars.sha256');
    const jars = parseJars(readFileSync(file, 'utf8'));
    expect(jars.filter((jar) => /^kafka_2\.13-[\d.]+\.jar$/.test(jar.file))).toHaveLength(1);
    for (const jar of jars) {
      // group/…/artifact/version/artifact-version.jar
      expect(jar.path).toMatch(/^[\w./-]+\/([\w.-]+)\/([\w.-]+)\/\1-\2\.jar$/);
      expect(jar.digest).toMatch(/^[0-9a-f]{64}$/);
    }
    expect(new Set(jars.map(({ file: name }) => name)).size).toBe(jars.length);
  });
});
