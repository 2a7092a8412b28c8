import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { reservePorts } from '../../../../../services/launcher/engines/ports.ts';

const root = mkdtempSync(join(tmpdir(), 'forum-test-engines-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const folder = () => mkdtempSync(join(root, 'case-'));

describe('reservePorts', () => {
  const quiet = { progress: () => undefined };

  test('keeps its ports over restarts, below the range of ephemeral ports', async () => {
    const dataDir = folder();
    const first = await reservePorts(dataDir, ['kafka', 'postgres'], quiet);
    expect(first.kafka).not.toBe(first.postgres);
    for (const port of [first.kafka, first.postgres]) expect(port < 32_768 && port >= 20_000).toBe(true);
    expect(await reservePorts(dataDir, ['kafka', 'postgres'], quiet)).toEqual(first);
  });

  test('replaces a port that another program uses, and reports it', async () => {
    const dataDir = folder();
    const lines: string[] = [];
    const first = await reservePorts(dataDir, ['kafka', 'postgres'], quiet);
    const isFree = async (port: number) => port !== first.kafka;
    const second = await reservePorts(dataDir, ['kafka', 'postgres'], { progress: (line) => lines.push(line), isFree });
    expect(second.kafka).not.toBe(first.kafka);
    expect(second.postgres).toBe(first.postgres);
    expect(lines).toEqual([`port ${first.kafka} is in use by another program; kafka moves to port ${second.kafka}`]);
  });
});
