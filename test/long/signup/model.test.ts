import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { mailboxOf } from '../../../shared/accounts/rules/mailbox.ts';
import { Browser } from '../../support/clients/oauth-browser.ts';
import type { SeenPage } from '../../support/clients/oauth-browser.ts';
import { APP_URL, newEmail } from '../../support/fixtures/signup-app.ts';
import type { SignupReply } from '../../support/fixtures/signup-app.ts';
import { signupFaults } from '../../support/oracles/signup-audit.ts';
import { codeIn, linkIn } from '../../support/fakes/smtp-mail.ts';
import { SignupBench } from '../../support/fixtures/signup-bench.ts';

let bench: SignupBench;
beforeAll(async () => {
  bench = await SignupBench.create();
});
afterAll(() => bench.stop());
beforeEach(() => bench.reset());

let pressed = 0;

/** Three mailboxes: one at a provider that ignores dots, two at a small domain. */
const SPELLINGS = ['one@gmail.com', 'o.n.e+x@googlemail.com', 'two@DOMAIN', 'Two+y@DOMAIN', 'three@DOMAIN'];

interface Verify {
  /** Index of one of the existing tokens. */
  token: number;
  /** 0: the right code; else its distance from it. */
  beside: number;
}

type Step =
  | { ask: number }
  | { verify: Verify[] }
  | { guess: number }
  | { press: number }
  | { minutes: number }
  | { closeAccount: number };

const spelling = fc.nat(SPELLINGS.length - 1);
const verify = fc.record({ token: fc.nat(9), beside: fc.constantFrom(0, 0, 1, 2) });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ ask: spelling }) },
  { weight: 5, arbitrary: fc.record({ verify: fc.array(verify, { minLength: 1, maxLength: 8 }) }) },
  { weight: 2, arbitrary: fc.record({ guess: spelling }) },
  { weight: 2, arbitrary: fc.record({ press: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ minutes: fc.constantFrom(4, 9, 80, 1_500, 44_000) }) },
  { weight: 1, arbitrary: fc.record({ closeAccount: spelling }) },
);

interface KnownToken {
  token: string;
  /** undefined: a link was mailed. */
  code: string | undefined;
  link: string | undefined;
  isPressed: boolean;
  mailbox: string;
  wrong: number;
  expiresAt: number;
}

/**
 * The model, written without transactions: the answers to concurrent requests must fit one of their possible orders.
 */
class Model {
  readonly tokens: KnownToken[] = [];
  readonly open = new Set<string>();
  readonly credited = new Set<string>();
  /** When wrong codes were checked, by mailbox. */
  readonly wrong = new Map<string, number[]>();
  minute = 0;

  /** Six wrong codes a day, twelve in thirty days. */
  triesLeft(mailbox: string): number {
    const since = (minutes: number) =>
      (this.wrong.get(mailbox) ?? []).filter((at) => at > this.minute - minutes).length;
    return Math.min(6 - since(1_440), 12 - since(43_200));
  }

  /** How many of each answer concurrent codes of one token must get. */
  check(known: KnownToken, codes: readonly number[], replies: readonly SignupReply[]): void {
    const kinds = replies.map(({ status, code }) => code ?? String(status));
    const count = (kind: string) => kinds.filter((one) => one === kind).length;
    const right = codes.filter((beside) => beside === 0).length;
    if (known.code !== undefined && known.wrong < 3 && this.minute >= known.expiresAt) {
      const kind = this.minute >= known.expiresAt + 60 ? 'invalid_signup_token' : 'code_expired';
      expect(kinds).toEqual(kinds.map(() => kind));
      return;
    }
    if (known.code === undefined || known.wrong >= 3) {
      const kind = this.minute >= known.expiresAt + 60 ? 'invalid_signup_token' : 'too_many_attempts';
      expect(kinds).toEqual(kinds.map(() => kind));
      return;
    }
    const possible = Math.min(codes.length - right, 3 - known.wrong);
    expect(count('invalid_code')).toBeLessThanOrEqual(possible);
    known.wrong += count('invalid_code');
    this.possible.set(known.mailbox, (this.possible.get(known.mailbox) ?? 0) + possible);
    this.checked.set(known.mailbox, (this.checked.get(known.mailbox) ?? 0) + count('invalid_code'));
    // A right code after the last wrong one of its token or mailbox is refused; otherwise all right codes were checked.
    if (known.wrong < 3 && count('too_many_attempts') > 0) this.refused.add(known.mailbox);
    expect(count('201') + count('account_exists') + count('invalid_code') + count('too_many_attempts')).toBe(
      kinds.length,
    );
    for (const [at, beside] of codes.entries()) {
      if (beside !== 0) expect(['invalid_code', 'too_many_attempts']).toContain(kinds[at]);
      else expect(['201', 'account_exists', 'too_many_attempts']).toContain(kinds[at]);
    }
  }

  /**
   * For concurrent codes: wrong codes that tokens had room for, those that were checked, and mailboxes with codes that
   * were not.
   */
  private readonly possible = new Map<string, number>();
  private readonly checked = new Map<string, number>();
  private readonly refused = new Set<string>();

  /** After concurrent codes: each mailbox had as many wrong codes checked as it had tries, or all of them. */
  settle(): void {
    for (const [mailbox, possible] of this.possible) {
      const left = this.triesLeft(mailbox);
      const checked = this.checked.get(mailbox)!;
      expect(checked).toBe(Math.min(possible, left));
      this.wrong.set(mailbox, [...(this.wrong.get(mailbox) ?? []), ...Array<number>(checked).fill(this.minute)]);
      if (this.refused.has(mailbox)) expect(this.triesLeft(mailbox)).toBe(0);
    }
    this.possible.clear();
    this.checked.clear();
    this.refused.clear();
  }

  /** Accounts opened by concurrent verifications of a mailbox's tokens. */
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
      await bench.db.freeze(`${one.minutes} minutes`);
    } else if ('closeAccount' in one) {
      const mailbox = mailboxOf(addressOf(one.closeAccount));
      await bench.db.pool.query('UPDATE accounts SET mailbox = id WHERE mailbox = $1', [mailbox]);
      model.open.delete(mailbox);
    } else if ('press' in one) await press(model, one.press);
    else if ('guess' in one) await guess(model, addressOf(one.guess));
    else await verifyAtOnce(model, one.verify);
  }
}

async function ask(model: Model, email: string): Promise<void> {
  const reply = await bench.app.signUp(email);
  // The hourly limit of a mailbox; test/integration/signup/limits.test.ts tests it.
  if (reply.code === 'rate_limited') return;
  expect(reply.status).toBe(200);
  const token = reply.body.signup_token as string;
  const mailbox = mailboxOf(email);
  const mail = bench.smtp.mailTo(email);
  const isCode = model.triesLeft(mailbox) > 0;
  model.tokens.push({
    token,
    code: isCode ? codeIn(mail) : undefined,
    link: isCode ? undefined : linkIn(mail),
    isPressed: false,
    mailbox,
    wrong: 0,
    expiresAt: model.minute + 10,
  });
}

/** Somebody requests two codes for a mailbox and guesses; then its owner requests one. */
async function guess(model: Model, email: string): Promise<void> {
  await ask(model, email);
  await ask(model, email);
  const last = model.tokens.length;
  await verifyAtOnce(
    model,
    [1, 2, 3, 4].flatMap((beside) => [last - 1, last - 2].map((token) => ({ token: Math.max(0, token), beside }))),
  );
  await ask(model, email);
}

/** Presses the button of a link twice at once: the account is opened once, or existed before. */
async function press(model: Model, at: number): Promise<void> {
  const links = model.tokens.filter(({ link }) => link !== undefined);
  const known = links[at % Math.max(1, links.length)];
  if (known === undefined) return;
  const isGood = !known.isPressed && model.minute < known.expiresAt;
  const pages = await Promise.all([known, known].map(pressOnce));
  const statuses = pages.map(({ status }) => status).sort();
  const done = model.open.has(known.mailbox) ? 409 : 201;
  expect(statuses).toEqual(isGood ? [done, 400].sort() : [400, 400]);
  if (!isGood) return;
  known.isPressed = true;
  pressed++;
  if (done === 409) return;
  const page = pages.find(({ status }) => status === 201)!.html;
  expect(page).toContain(`has ${model.credited.has(known.mailbox) ? 0 : 200} credits`);
  model.open.add(known.mailbox);
  model.credited.add(known.mailbox);
}

async function pressOnce({ link }: KnownToken): Promise<SeenPage> {
  const browser = new Browser((url, init) => fetch(String(url).replace(APP_URL, bench.app.url), init));
  await browser.open(link!);
  return browser.submit('/link');
}

async function verifyAtOnce(model: Model, verifies: readonly Verify[]): Promise<void> {
  if (model.tokens.length === 0) return;
  const chosen = verifies.map(({ token, beside }) => ({ known: model.tokens[token % model.tokens.length]!, beside }));
  const replies = await Promise.all(
    chosen.map(({ known, beside }) =>
      bench.app.verify(known.token, String((Number(known.code ?? 0) + beside) % 1_000_000).padStart(6, '0')),
    ),
  );
  const all = chosen.map((one, at) => ({ ...one, reply: replies[at]! }));
  for (const [known, of] of Map.groupBy(all, (one) => one.known)) {
    model.check(
      known,
      of.map(({ beside }) => beside),
      of.map(({ reply }) => reply),
    );
  }
  model.settle();
  for (const [mailbox, of] of Map.groupBy(all, (one) => one.known.mailbox)) {
    model.opened(
      mailbox,
      of.map(({ reply }) => reply),
    );
  }
}

test('concurrent requests in any order: one account a mailbox, credits once, three wrong codes a token, six a day per mailbox', async () => {
  let accounts = 0;
  pressed = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await bench.db.freeze();
      const domain = newEmail('example').replace('@', '.');
      const model = new Model();
      await run(model, domain, steps);
      accounts += model.open.size;
      expect(await signupFaults(bench.db.pool)).toEqual([]);
    }),
    { numRuns: 25 },
  );
  // Or nothing was tried.
  expect(accounts).toBeGreaterThan(5);
  expect(pressed).toBeGreaterThan(1);
}, 600_000);
