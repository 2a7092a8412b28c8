import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
});
