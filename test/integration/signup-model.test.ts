import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mailboxOf } from '../../shared/domain/mailbox.ts';
import { newEmail, startSignupApp } from '../support/signup-app.ts';
import type { SignupApp, SignupReply } from '../support/signup-app.ts';
import { signupFaults } from '../support/signup-audit.ts';
import { codeIn } from '../support/smtp-mail.ts';
import { startSmtpReceiver } from '../support/smtp-receiver.ts';
import type { SmtpReceiver } from '../support/smtp-receiver.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { TestDatabase } from '../support/test-database.ts';

let db: TestDatabase;
let smtp: SmtpReceiver;
let app: SignupApp;
beforeAll(async () => {
  db = await createTestDatabase();
  smtp = await startSmtpReceiver();
  app = await startSignupApp(db.pool, { smtpUrl: smtp.url });
});
afterAll(async () => {
  await app.stop();
  await smtp.stop();
  await db.drop();
});

/** Three mailboxes: one at a provider with dots, two at a small domain. */
const SPELLINGS = ['one@gmail.com', 'o.n.e+x@googlemail.com', 'two@DOMAIN', 'Two+y@DOMAIN', 'three@DOMAIN'];

interface Verify {
  /** Which of the tokens that there are. */
  token: number;
  /** 0: the right code; else how far beside it. */
  beside: number;
}
type Step = { ask: number } | { verify: Verify[] } | { minutes: number } | { closeAccount: number };

const spelling = fc.nat(SPELLINGS.length - 1);
const verify = fc.record({ token: fc.nat(9), beside: fc.constantFrom(0, 0, 1, 2) });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ ask: spelling }) },
  { weight: 5, arbitrary: fc.record({ verify: fc.array(verify, { minLength: 1, maxLength: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ minutes: fc.constantFrom(4, 9, 80, 1_500) }) },
  { weight: 1, arbitrary: fc.record({ closeAccount: spelling }) },
);

interface KnownToken {
  token: string;
  code: string;
  mailbox: string;
  wrong: number;
  expiresAt: number;
}

/** What must be so, told without transactions: the answers of requests at once are one of the orders they may have come in. */
class Model {
  readonly tokens: KnownToken[] = [];
  readonly open = new Set<string>();
  readonly credited = new Set<string>();
  minute = 0;

  /** How many of each answer there must be when these come at once for one token. */
  judge(known: KnownToken, codes: readonly number[], replies: readonly SignupReply[]): void {
    const kinds = replies.map(({ status, code }) => code ?? String(status));
    const count = (kind: string) => kinds.filter((one) => one === kind).length;
    const right = codes.filter((beside) => beside === 0).length;
    if (known.wrong < 3 && this.minute >= known.expiresAt) {
      const kind = this.minute >= known.expiresAt + 60 ? 'invalid_signup_token' : 'code_expired';
      expect(kinds).toEqual(kinds.map(() => kind));
      return;
    }
    if (known.wrong >= 3) {
      const kind = this.minute >= known.expiresAt + 60 ? 'invalid_signup_token' : 'too_many_attempts';
      expect(kinds).toEqual(kinds.map(() => kind));
      return;
    }
    const wrong = Math.min(codes.length - right, 3 - known.wrong);
    expect(count('invalid_code')).toBe(wrong);
    known.wrong += wrong;
    // A right code that came after the third wrong one is refused; without a third wrong one all right codes were judged.
    if (known.wrong < 3) expect(count('too_many_attempts')).toBe(0);
    expect(count('201') + count('account_exists') + count('invalid_code') + count('too_many_attempts')).toBe(
      kinds.length,
    );
    for (const [at, beside] of codes.entries()) {
      if (beside !== 0) expect(['invalid_code', 'too_many_attempts']).toContain(kinds[at]);
      else expect(['201', 'account_exists', 'too_many_attempts']).toContain(kinds[at]);
    }
  }

  /** Accounts that came about among tokens of a mailbox that were verified at once. */
  opened(mailbox: string, replies: readonly SignupReply[]): void {
    const created = replies.filter(({ status }) => status === 201);
    const exists = replies.some(({ code }) => code === 'account_exists');
    const wasOpen = this.open.has(mailbox);
    expect(created.length).toBe(!wasOpen && (created.length > 0 || exists) ? 1 : 0);
    if (created.length === 0) return;
    this.open.add(mailbox);
    const credits = this.credited.has(mailbox) ? 0 : 200;
    expect(created[0]!.body.credits).toBe(credits);
    this.credited.add(mailbox);
  }
}

async function run(model: Model, domain: string, steps: readonly Step[]): Promise<void> {
  const addressOf = (at: number) =>
    SPELLINGS[at]!.replace(/^\w/, (first) => `${domain.slice(0, 8)}${first}`).replace('DOMAIN', domain);
  for (const one of steps) {
    if ('ask' in one) await ask(model, addressOf(one.ask));
    else if ('minutes' in one) {
      model.minute += one.minutes;
      await db.freeze(`${one.minutes} minutes`);
    } else if ('closeAccount' in one) {
      const mailbox = mailboxOf(addressOf(one.closeAccount));
      await db.pool.query('UPDATE accounts SET mailbox = id WHERE mailbox = $1', [mailbox]);
      model.open.delete(mailbox);
    } else await verifyAtOnce(model, one.verify);
  }
}

async function ask(model: Model, email: string): Promise<void> {
  const reply = await app.signUp(email);
  // Five an hour and mailbox: signup-limits.test.ts.
  if (reply.code === 'rate_limited') return;
  expect(reply.status).toBe(200);
  const token = reply.body.signup_token as string;
  model.tokens.push({
    token,
    code: codeIn(smtp.mailTo(email)),
    mailbox: mailboxOf(email),
    wrong: 0,
    expiresAt: model.minute + 10,
  });
}

async function verifyAtOnce(model: Model, verifies: readonly Verify[]): Promise<void> {
  if (model.tokens.length === 0) return;
  const chosen = verifies.map(({ token, beside }) => ({ known: model.tokens[token % model.tokens.length]!, beside }));
  const replies = await Promise.all(
    chosen.map(({ known, beside }) =>
      app.verify(known.token, String((Number(known.code) + beside) % 1_000_000).padStart(6, '0')),
    ),
  );
  const all = chosen.map((one, at) => ({ ...one, reply: replies[at]! }));
  for (const [known, of] of Map.groupBy(all, (one) => one.known)) {
    model.judge(
      known,
      of.map(({ beside }) => beside),
      of.map(({ reply }) => reply),
    );
  }
  for (const [mailbox, of] of Map.groupBy(all, (one) => one.known.mailbox)) {
    model.opened(
      mailbox,
      of.map(({ reply }) => reply),
    );
  }
}

test('whatever comes at once and in whatever order: one account a mailbox, credits once, three wrong codes', async () => {
  let accounts = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await db.freeze();
      const domain = newEmail('example').replace('@', '.');
      const model = new Model();
      await run(model, domain, steps);
      accounts += model.open.size;
      expect(await signupFaults(db.pool)).toEqual([]);
    }),
    { numRuns: 40 },
  );
  // Or nothing was tried.
  expect(accounts).toBeGreaterThan(10);
}, 300_000);
