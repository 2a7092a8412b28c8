import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findAccount } from '../../../shared/stores/accounts/accounts.ts';
import type { StoredAccount } from '../../../shared/stores/accounts/accounts.ts';
import { changeAddress } from '../../../shared/stores/accounts/change-address.ts';
import { SealedRecords } from '../../../shared/stores/accounts/sealed-records.ts';
import { Browser } from '../../support/clients/oauth-browser.ts';
import type { SeenPage } from '../../support/clients/oauth-browser.ts';
import { codeIn, linkIn } from '../../support/fakes/smtp-mail.ts';
import {
  authorizationUrl,
  newEmail,
  newPkce,
  publish,
  signIn,
  startOAuthInstallation,
} from '../../support/fixtures/oauth-installation.ts';
import type { OAuthInstallation } from '../../support/fixtures/oauth-installation.ts';

let at: OAuthInstallation;
let client: string;

beforeAll(async () => {
  at = await startOAuthInstallation();
  client = publish(at);
});
afterAll(() => at.stop());
beforeEach(() => at.reset());

const titleOf = ({ html }: SeenPage) => /<h1>([^<]*)<\/h1>/.exec(html)?.[1];
const problemOn = ({ html }: SeenPage) => /<p id="problem" role="alert">([^<]*)<\/p>/.exec(html)?.[1];
const over = ['Sign in', 'The code is not valid any more. Ask for another one.'];

async function begin(): Promise<Browser> {
  const browser = new Browser(at.fetch);
  await browser.open(authorizationUrl(at, client, newPkce()));
  return browser;
}

/** Changes the address as its owner does. */
async function move({ id, email }: StoredAccount): Promise<string> {
  const newAddress = newEmail();
  const change = { accountId: id, oldEmail: email, newEmail: newAddress, newMailbox: newAddress };
  expect(await changeAddress(at.db.pool, { ...change, mailboxHashes: [], keptSessionId: '' })).toBe('changed');
  return newAddress;
}

async function grantsOf({ id }: StoredAccount): Promise<number | null> {
  const { rowCount } = await at.db.pool.query(`SELECT FROM oauth_records WHERE account_id = $1 AND model = 'Grant'`, [
    id,
  ]);
  return rowCount;
}

/** Makes a sign-in under way like one of the release before. */
async function forgetAddress(uid: string): Promise<void> {
  const records = new SealedRecords(at.db.pool, at.apis[0].secretBox);
  const { payload } = (await records.find('Interaction', uid))!;
  const { login } = payload.result as { login: { accountId: string } };
  const result = { login: { accountId: login.accountId } };
  await records.put({ model: 'Interaction', id: uid, payload: { ...payload, result }, validSeconds: 60 });
}

test('a sign-in by the earlier address authorises nothing, and does not show the new one', async () => {
  const email = newEmail();
  const [deciding, reading] = [await begin(), await begin()];
  await signIn(at, deciding, email);
  const { url } = await signIn(at, reading, email);
  const account = (await findAccount(at.db.pool, email))!;
  const newAddress = await move(account);
  const decided = await deciding.submit('/decision', { decision: 'allow' });
  expect([decided.leftTo, titleOf(decided), problemOn(decided)]).toEqual([undefined, ...over]);
  const read = await reading.open(url);
  expect([read.status, titleOf(read), problemOn(read)]).toEqual([400, ...over]);
  expect(read.html).not.toContain(newAddress);
  expect(await grantsOf(account)).toBe(0);
  expect(titleOf(await signIn(at, deciding, newAddress))).toBe('Allow this program?');
});

test('a change of the address while the grant is stored leaves no grant', async () => {
  const email = newEmail();
  const browser = await begin();
  await signIn(at, browser, email);
  const account = (await findAccount(at.db.pool, email))!;
  await at.db.pool.query(
    `CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN UPDATE accounts SET email = 'moved@example.com' WHERE id = NEW.account_id; RETURN NEW; END $$;
     CREATE TRIGGER move BEFORE INSERT ON oauth_records FOR EACH ROW WHEN (NEW.model = 'Grant')
       EXECUTE FUNCTION move()`,
  );
  const page = await browser.submit('/decision', { decision: 'allow' });
  await at.db.pool.query('DROP FUNCTION move CASCADE');
  expect([page.leftTo, titleOf(page), problemOn(page)]).toEqual([undefined, ...over]);
  expect(await grantsOf(account)).toBe(0);
});

test('a browser that a link signed in by the earlier address is signed out', async () => {
  const email = newEmail();
  const guessing = await begin();
  for (let codes = 0; codes < 2; codes++) {
    await guessing.submit('/address', { email });
    const code = Number(codeIn(at.smtp.mailTo(email)));
    for (let by = 1; by <= 3; by++) {
      await guessing.submit('/code', { code: String((code + by) % 1_000_000).padStart(6, '0') });
    }
  }
  await (await begin()).submit('/address', { email });
  const browser = new Browser(at.fetch);
  await browser.open(linkIn(at.smtp.mailTo(email)));
  expect(titleOf(await browser.submit('/link'))).toBe('You are signed in');
  const account = (await findAccount(at.db.pool, email))!;
  await move(account);
  const page = await browser.open(authorizationUrl(at, client, newPkce()));
  expect([titleOf(page), problemOn(page)]).toEqual(over);
  expect(await grantsOf(account)).toBe(0);
});

test('what the release before stored of a sign-in under way begins again', async () => {
  const browser = await begin();
  const { url } = await signIn(at, browser, newEmail());
  await forgetAddress(url.pathname.split('/').at(-1)!);
  const page = await browser.submit('/decision', { decision: 'allow' });
  expect([page.leftTo, titleOf(page)]).toEqual([undefined, 'Sign in']);
});
