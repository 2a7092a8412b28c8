import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { serverUser } from '../../../services/launcher/engines/postgres/postgres-user.ts';
import { eventually } from '../../support/fixtures/eventually.ts';

/** Of one version: pg_dump refuses a newer server, so the embedded one cannot be asked. */
const PROGRAMS = programsOf(['initdb', 'pg_ctl', 'pg_dump', 'pg_restore', 'psql']);
const PASSWORD = String.raw`p%4:é @x+\n/?#&`;
const CREDENTIALS = `forum:${encodeURIComponent(PASSWORD)}`;
const scratch = mkdtempSync(join(tmpdir(), 'forum-test-dump-'));
const [sockets, backup] = [join(scratch, 'server'), join(scratch, 'backup')];

function programsOf(names: string[]): string | undefined {
  const { status, stdout } = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' });
  if (status !== 0) return undefined;
  const folder = stdout.trim();
  return names.every((name) => existsSync(join(folder, name))) ? folder : undefined;
}

const urlOf = (database: string, { credentials = CREDENTIALS, options = '' } = {}) =>
  `postgres://${credentials}@/${database}?host=${encodeURIComponent(sockets)}${options}`;

function runScript(script: string, url: string, folder: string): { code: number | null; out: string; err: string } {
  const env = { PATH: `${PROGRAMS}:${process.env['PATH']}`, DATABASE_URL: url };
  const { status, stdout, stderr } = spawnSync('bash', [`deploy/backup/${script}`, folder], { env, encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}

function ask(database: string, ...statements: string[]): string {
  const args = ['-X', '-q', '-At', '-h', sockets, '-U', 'postgres', '-d', database];
  return execFileSync(join(PROGRAMS!, 'psql'), [...args, ...statements.flatMap((sql) => ['-c', sql])])
    .toString()
    .trim();
}

describe.skipIf(PROGRAMS === undefined)('the scripts that dump and restore a server', () => {
  let runServer: (program: string, ...args: string[]) => void;
  beforeAll(() => {
    mkdirSync(sockets);
    const user = serverUser(join(sockets, 'data'), process.env);
    user.own(sockets);
    runServer = (program, ...args) => {
      execFileSync(...user.command(join(PROGRAMS!, program), ['-D', join(sockets, 'data'), ...args]), {
        stdio: 'ignore',
      });
    };
    runServer('initdb', '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C');
    writeFileSync(join(sockets, 'data', 'pg_hba.conf'), 'local all postgres trust\nlocal all all scram-sha-256\n');
    runServer(
      'pg_ctl',
      '-w',
      '-l',
      join(sockets, 'log'),
      '-o',
      `-k ${sockets} -c listen_addresses= -c fsync=off`,
      'start',
    );
    ask('postgres', `CREATE ROLE forum LOGIN PASSWORD '${PASSWORD}'`, 'CREATE DATABASE forum OWNER forum');
    ask('postgres', 'CREATE DATABASE empty OWNER forum');
    const rows = 'SELECT i, repeat(md5(i::text), 30) FROM generate_series(1, 100000) i';
    ask('forum', 'SET ROLE forum', `CREATE TABLE monitors AS ${rows}`);
    // As a managed server has it. Only a superuser may restore it.
    ask('forum', 'CREATE EXTENSION pg_stat_statements');
  }, 120_000);
  afterAll(() => {
    runServer('pg_ctl', '-m', 'immediate', 'stop');
    rmSync(scratch, { recursive: true, force: true });
  });

  test('a backup is one of its owner alone, and is taken into a new folder only', () => {
    expect(runScript('back-up.sh', urlOf('forum'), backup)).toMatchObject({ code: 0, err: '' });
    expect(statSync(backup).mode & 0o777).toBe(0o700);
    expect(statSync(join(backup, 'forum.dump')).mode & 0o777).toBe(0o600);
    expect(runScript('back-up.sh', urlOf('forum'), backup)).toMatchObject({ code: 1, out: '' });
    expect(existsSync(join(backup, 'taken-at'))).toBe(true);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s ends pg_dump, and leaves no half of a backup',
    async (signal) => {
      const folder = join(scratch, signal);
      // Its dump waits for the lock.
      const holder = spawn(join(PROGRAMS!, 'psql'), ['-X', '-h', sockets, '-U', 'postgres', '-d', 'forum']);
      onTestFinished(() => void holder.kill());
      holder.stdin.write('BEGIN; LOCK TABLE monitors IN ACCESS EXCLUSIVE MODE;\n');
      const locks = (state: string) =>
        Number(ask('forum', `SELECT count(*) FROM pg_locks WHERE relation = 'monitors'::regclass AND ${state}`));
      await eventually('the table is locked', () => locks('granted') === 1);
      const url = urlOf('forum');
      const script = spawn('bash', ['deploy/backup/back-up.sh', folder], {
        env: { PATH: `${PROGRAMS}:${process.env['PATH']}`, DATABASE_URL: url },
      });
      await eventually('pg_dump waits', () => locks('NOT granted') === 1);
      const shown = execFileSync('ps', ['-eo', 'args']).toString();
      expect(shown).toContain(`--file=${folder}`);
      expect(shown).not.toContain(encodeURIComponent(PASSWORD));
      script.kill(signal);
      expect(await once(script, 'exit')).toEqual([1, null]);
      expect(existsSync(folder)).toBe(false);
      await eventually('pg_dump has ended', () => locks('NOT granted') === 0);
      holder.stdin.end();
      await once(holder, 'exit');
    },
  );

  test('a password may be written as the services read it', () => {
    ask('postgres', `CREATE ROLE "a@b" SUPERUSER LOGIN PASSWORD 'x@y@z'`);
    const parameters = `&user=forum&password=${encodeURIComponent(PASSWORD)}&uselibpqcompat=true&sslmode=prefer`;
    const urls = [
      urlOf('forum', { credentials: 'a@b:x@y@z' }),
      urlOf('forum', { options: parameters }).replace(`${CREDENTIALS}@`, ''),
    ];
    for (const [index, url] of urls.entries()) {
      expect(runScript('back-up.sh', url, join(scratch, `written-${index}`))).toMatchObject({ code: 0, err: '' });
    }
  });

  test('a backup is restored as a whole or not at all', () => {
    const half = join(scratch, 'half');
    execFileSync('cp', ['-r', backup, half]);
    expect(runScript('restore.sh', urlOf('forum'), backup)).toMatchObject({ code: 1, out: '' });
    truncateSync(join(half, 'forum.dump'), 1_000_000);
    const broken = runScript('restore.sh', urlOf('empty'), half);
    expect(broken).toMatchObject({ code: 1, out: '', err: expect.stringContaining('Nothing was restored') as string });
    writeFileSync(join(half, 'taken-at'), '');
    expect(runScript('restore.sh', urlOf('empty'), half).err).toContain('is no complete backup');
    expect(ask('empty', `SELECT to_regclass('monitors') IS NULL`)).toBe('t');

    const whole = runScript('restore.sh', urlOf('empty'), backup);
    expect(whole).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/--taken-at \d{4}-.*Z\n$/) as string });
    expect(ask('empty', 'SELECT count(*) FROM monitors')).toBe('100000');
  });
});
