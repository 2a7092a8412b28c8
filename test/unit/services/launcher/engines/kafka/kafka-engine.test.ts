import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clusterIdFrom } from '../../../../../../services/launcher/engines/kafka/kafka-engine.ts';
import { serverUser } from '../../../../../../services/launcher/engines/postgres/postgres-user.ts';

test('a cluster id is never taken for an option of the storage tool', () => {
  for (let first = 0; first < 256; first++) {
    expect(clusterIdFrom(Buffer.alloc(16, first))).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/);
  }
});

test.skipIf(process.getuid?.() !== 0)(
  'run by root: the server finds its binaries in a folder that only root may enter',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'forum-test-private-'));
    try {
      const binary = join(folder, 'postgres');
      writeFileSync(binary, '', { mode: 0o755 });
      const user = serverUser(join(folder, 'cluster'), process.env);
      // As initdb does: access(2), which asks for the real user's rights.
      const script = `require('node:fs').accessSync(${JSON.stringify(binary)}, 1); console.log(process.getuid())`;
      const [command, args] = user.command(process.execPath, ['-e', script]);
      expect(Number(execFileSync(command, args, { cwd: '/' }).toString())).toBeGreaterThan(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
