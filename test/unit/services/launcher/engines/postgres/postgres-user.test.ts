import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serverUser } from '../../../../../../services/launcher/engines/postgres/postgres-user.ts';

test.skipIf(process.getuid?.() !== 0)(
  'when root starts it, the server finds its binaries in a folder that only root may enter',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'forum-test-private-'));
    try {
      const binary = join(folder, 'postgres');
      writeFileSync(binary, '', { mode: 0o755 });
      const user = serverUser(join(folder, 'cluster'), process.env);
      // Like initdb, with access(2), which checks the permissions of the real user.
      const script = `require('node:fs').accessSync(${JSON.stringify(binary)}, 1); console.log(process.getuid())`;
      const [command, args] = user.command(process.execPath, ['-e', script]);
      expect(Number(execFileSync(command, args, { cwd: '/' }).toString())).toBeGreaterThan(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
