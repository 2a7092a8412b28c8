import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kafkaEngine } from '../../../services/launcher/engines/kafka/kafka-engine.ts';
import { kafkaJars } from '../../../services/launcher/engines/kafka/kafka-jars.ts';
import { reservePorts } from '../../../services/launcher/engines/ports.ts';

/** Stands for a broker that ends at once, as on a full disk, and notes how it was started. */
const JAVA = `#!/bin/sh
echo "$*" >> "$STARTS"
exit 1
`;

let root: string;
/** Where a user's installations share the archive. */
let archive: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'forum-archive-test-'));
  const jars = (await kafkaJars({ dataDir: root, env: process.env, progress: () => undefined })).folder;
  const shared = join(root, 'cache', 'forum-monitor', basename(jars));
  mkdirSync(shared, { recursive: true });
  for (const file of readdirSync(jars).filter((name) => name.endsWith('.jar'))) {
    symlinkSync(join(jars, file), join(shared, file));
  }
  archive = join(shared, 'classes.jsa');
  writeFileSync(archive, 'of another broker');
  mkdirSync(join(root, 'bin'));
  writeFileSync(join(root, 'bin', 'java'), JAVA);
  chmodSync(join(root, 'bin', 'java'), 0o755);
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

test('a broker that starts neither with the archive of classes nor without it leaves it to the others', async () => {
  const starts = join(root, 'starts');
  const env = { PATH: `${join(root, 'bin')}:${process.env.PATH}`, XDG_CACHE_HOME: join(root, 'cache'), STARTS: starts };
  const dataDir = join(root, 'data');
  // Formatted before.
  mkdirSync(join(dataDir, 'kafka', 'data'), { recursive: true });
  writeFileSync(join(dataDir, 'kafka', 'data', 'meta.properties'), '');
  const engine = kafkaEngine({ dataDir, env, progress: () => undefined }, { heapMb: 64 });
  await engine.prepare();
  const ports = await reservePorts(dataDir, engine.ports, { progress: () => undefined });
  await expect(engine.start(ports)).rejects.toThrow('kafka did not start');
  const lines = readFileSync(starts, 'utf8').trim().split('\n');
  expect(lines.map((line) => /-XX:(SharedArchiveFile|ArchiveClassesAtExit)/.exec(line)?.[1])).toEqual([
    'SharedArchiveFile',
    undefined,
  ]);
  expect(existsSync(archive)).toBe(true);
});
