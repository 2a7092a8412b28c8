import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { newEmail, startSignupApp } from '../../support/fixtures/signup-app.ts';
import type { SignupApp, SignupReply } from '../../support/fixtures/signup-app.ts';
import { startSmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import type { SmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let smtp: SmtpReceiver;
const apps: SignupApp[] = [];
beforeAll(async () => {
  db = await createTestDatabase();
  smtp = await startSmtpReceiver();
  await db.freeze();
});
afterEach(async () => {
  for (const app of apps.splice(0)) await app.stop();
  await db.pool.query('DELETE FROM recent_uses');
});
afterAll(async () => {
  await smtp.stop();
  await db.drop();
});

const MAILBOX_DAY = 20;

async function start(perHour?: number): Promise<SignupApp> {
  const app = await startSignupApp(db.pool, { smtpUrl: smtp.url, ...(perHour === undefined ? {} : { perHour }) });
  apps.push(app);
  return app;
}

/** `ok`, or the code of the error with its seconds. */
function shown({ status, code, body }: SignupReply): string {
  return status === 200 ? 'ok' : `${code} ${(body.error as { retry_after?: number }).retry_after}`;
}

async function usesOf(name: string): Promise<number> {
  const { rows } = await db.pool.query<{ uses: number }>(
    'SELECT coalesce(sum(cardinality(times)), 0)::integer AS uses FROM recent_uses WHERE name LIKE $1',
    [name],
  );
  return rows[0]!.uses;
}

async function many(count: number, work: () => Promise<SignupReply>): Promise<string[]> {
  return (await Promise.all(Array.from({ length: count }, work))).map(shown).sort();
}

function randomAddressIn(site: string): string {
  return `${site}:${Math.floor(Math.random() * 65_536).toString(16)}::1`;
}

describe('a mailbox', () => {
  test('gets five codes an hour, in any spelling', async () => {
    const app = await start();
    const name = newEmail('').slice(0, -1);
    const spellings = [`${name}@gmail.com`, `${name}+a@gmail.com`, `${name[0]!}.${name.slice(1)}@googlemail.com`];
    const answers: string[] = [];
    for (const at of [0, 1, 2, 0, 1, 2, 0]) answers.push(shown(await app.signUp(spellings[at]!, '192.0.2.1')));
    expect(answers).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'rate_limited 3600', 'rate_limited 3600']);
    await db.freeze('3599.5 seconds');
    expect(shown(await app.signUp(spellings[1]!, '192.0.2.2'))).toBe('rate_limited 1');
    await db.freeze('0.5 seconds');
    expect(shown(await app.signUp(spellings[1]!, '192.0.2.2'))).toBe('ok');
  });

  test('keeps some of its ten codes an hour for its owner when another network asks continuously', async () => {
    const app = await start();
    const email = newEmail();
    const ofAttacker = await many(30, () => app.signUp(email, randomAddressIn('2001:db8:1')));
    expect(ofAttacker.filter((answer) => answer === 'ok')).toHaveLength(5);
    for (let each = 0; each < 5; each++) expect(shown(await app.signUp(email, '192.0.2.1'))).toBe('ok');
    expect(shown(await app.signUp(email, '198.51.100.1'))).toBe('rate_limited 3600');
  });

  test('keeps ten of its twenty codes a day for its owner when another network asks every hour', async () => {
    const app = await start();
    const email = newEmail();
    const ofAttacker: string[] = [];
    for (let hour = 0; hour < 5; hour++) {
      ofAttacker.push(...(await many(6, () => app.signUp(email, '192.0.2.1'))));
      await db.freeze('1 hour');
    }
    expect(ofAttacker.filter((answer) => answer === 'ok')).toHaveLength(10);
    expect(shown(await app.signUp(email, '192.0.2.1'))).toBe(`rate_limited ${19 * 3_600}`);
    for (let each = 0; each < 5; each++) expect(shown(await app.signUp(email, '198.51.100.1'))).toBe('ok');
  });

  test('gets at most twenty codes a day from all networks', async () => {
    const app = await start();
    const email = newEmail();
    let sent = 0;
    for (let hour = 0; hour < 4; hour++) {
      sent += (await many(12, () => app.signUp(email))).filter((answer) => answer === 'ok').length;
      await db.freeze('1 hour');
    }
    expect(sent).toBe(MAILBOX_DAY);
    expect(smtp.received.filter(({ recipients }) => recipients.includes(email))).toHaveLength(MAILBOX_DAY);
    await db.freeze('20 hours');
    expect(shown(await app.signUp(email))).toBe('ok');
  });

  test('is not revealed by the name of its limit', async () => {
    const app = await start();
    await app.signUp('someone@private.example');
    const { rows } = await db.pool.query<{ name: string }>("SELECT name FROM recent_uses WHERE name LIKE '%mailbox%'");
    expect(rows).toHaveLength(4);
    for (const { name } of rows) {
      expect(name).toMatch(/^signup:mailbox:((day|hour):[0-9a-f]{64}|from:(day:)?[0-9a-f]{64}:[0-9a-f:]+\/48)$/);
    }
  });
});

describe('a network', () => {
  test.each([
    ['a /24', (at: number) => `192.0.2.${at}`, '192.0.3.1'],
    ['a /64', (at: number) => `2001:db8:1:2:${at}::${at}`, '2001:db8:1:3::1'],
  ])('%s has 20 sign-ups an hour in total', async (_, address, other) => {
    const app = await start();
    let at = 1;
    const answers = await many(22, () => app.signUp(newEmail(), address(at++)));
    expect(answers).toEqual([...Array<string>(20).fill('ok'), 'rate_limited 3600', 'rate_limited 3600']);
    expect(shown(await app.signUp(newEmail(), other))).toBe('ok');
  });

  test.each([
    ['a /56', 40, (at: number) => `2001:db8:2:1${at.toString(16).padStart(2, '0')}::1`, '2001:db8:2:200::1'],
    ['a /48', 80, (at: number) => `2001:db8:3:${(at * 256).toString(16)}::1`, '2001:db8:4::1'],
  ])('%s, however many a /64 it contains, has %i', async (_, most, address, other) => {
    const [one, another] = [await start(), await start()];
    let at = 0;
    const answers = await many(120, () => (at % 2 === 0 ? one : another).signUp(newEmail(), address(at++ % 250)));
    expect(answers.filter((answer) => answer === 'ok')).toHaveLength(most);
    expect(shown(await one.signUp(newEmail(), other))).toBe('ok');
  });

  test('has 100 a day, of which 20 each hour', async () => {
    const app = await start();
    const oneHour = () => many(21, () => app.signUp(newEmail(), '192.0.2.1'));
    for (let hour = 0; hour < 5; hour++) {
      expect(await oneHour()).toEqual([...Array<string>(20).fill('ok'), expect.stringMatching(/^rate_limited/)]);
      await db.freeze('1 hour');
    }
    expect(shown(await app.signUp(newEmail(), '192.0.2.1'))).toBe(`rate_limited ${19 * 3_600}`);
    await db.freeze('19 hours');
    expect(shown(await app.signUp(newEmail(), '192.0.2.1'))).toBe('ok');
  });
});

describe('the installation', () => {
  test('mails as many codes an hour as configured, over all processes', async () => {
    const [one, other] = [await start(7), await start(7)];
    let turn = 0;
    const answers = await many(20, () => (turn++ % 2 === 0 ? one : other).signUp(newEmail()));
    expect(answers).toEqual([...Array<string>(13).fill('agent_signup_busy 3600'), ...Array<string>(7).fill('ok')]);
    await db.freeze('1 hour');
    expect(shown(await one.signUp(newEmail()))).toBe('ok');
  });
});

describe('a refused request', () => {
  test('takes nothing of the other limits, whichever refused it', async () => {
    const app = await start(25);
    const email = newEmail();
    for (let each = 0; each < 5; each++) await app.signUp(email, '192.0.2.1');
    const before = [await usesOf('%mailbox%'), await usesOf('%network%'), await usesOf('%total')];
    expect(before).toEqual([20, 10, 5]);
    // Refused by its mailbox.
    for (let each = 0; each < 5; each++) expect(shown(await app.signUp(email, '192.0.2.1'))).toMatch('rate_limited');
    expect([await usesOf('%mailbox%'), await usesOf('%network%'), await usesOf('%total')]).toEqual(before);
    // Refused by its network.
    expect(await many(20, () => app.signUp(newEmail(), '192.0.2.1'))).toContain('rate_limited 3600');
    expect([await usesOf('%mailbox%'), await usesOf('%network%'), await usesOf('%total')]).toEqual([80, 40, 20]);
    // Refused by the installation.
    expect(await many(9, () => app.signUp(newEmail()))).toContain('agent_signup_busy 3600');
    expect([await usesOf('%mailbox%'), await usesOf('%network%'), await usesOf('%total')]).toEqual([100, 70, 25]);
  });
});
