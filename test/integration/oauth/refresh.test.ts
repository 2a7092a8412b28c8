import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { SealedRecords } from '../../../shared/stores/accounts/sealed-records.ts';
import {
  askMcp,
  newEmail,
  post,
  publish,
  startOAuthInstallation,
  tokensFor,
} from '../../support/fixtures/oauth-installation.ts';
import type { OAuthInstallation, TokenReply, Tokens } from '../../support/fixtures/oauth-installation.ts';

let at: OAuthInstallation;
let client: string;

beforeAll(async () => {
  at = await startOAuthInstallation();
  client = publish(at);
});
afterAll(() => at.stop());
beforeEach(() => at.reset());

const refresh = (token: string) =>
  post(at, '/oauth/token', { grant_type: 'refresh_token', client_id: client, refresh_token: token });

async function refreshed(token: string): Promise<Tokens> {
  const { status, body } = await refresh(token);
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
  return { access: String(body.access_token), refresh: String(body.refresh_token) };
}

const statusOf = async ({ access }: Tokens) => (await askMcp(at, access)).status;

function isInvalidGrant({ status, body }: TokenReply): void {
  expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_grant' });
}

/** Postgres refuses to store tokens of a kind while `work` runs, as one that starts refuses everything. */
async function whileNotStored<T>(model: 'AccessToken' | 'RefreshToken', work: () => Promise<T>): Promise<T> {
  await at.db.pool.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN RAISE EXCEPTION 'the database system is starting up' USING ERRCODE = 'cannot_connect_now'; END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON oauth_records FOR EACH ROW WHEN (NEW.model = '${model}')
       EXECUTE FUNCTION refuse()`,
  );
  try {
    return await work();
  } finally {
    await at.db.pool.query('DROP FUNCTION refuse CASCADE');
  }
}

test.each(['AccessToken', 'RefreshToken'] as const)(
  'an outage before the new %s is stored is answered 503; the same token then gets new ones, also much later',
  async (model) => {
    const first = await tokensFor(at, client, newEmail());
    const away = await whileNotStored(model, () => refresh(first.refresh));
    expect([away.status, away.body.error, away.headers.get('retry-after')]).toEqual([
      503,
      'temporarily_unavailable',
      '5',
    ]);
    expect(await statusOf(first)).toBe(200);
    expect((await whileNotStored(model, () => refresh(first.refresh))).status).toBe(503);
    await at.db.setShift('10 minutes');
    const second = await refreshed(first.refresh);
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);
    expect(await statusOf(await refreshed(second.refresh))).toBe(200);
  },
);

test('a token whose answer was lost gets new ones, which replace those that were lost', async () => {
  const first = await tokensFor(at, client, newEmail());
  const lost = [await refreshed(first.refresh), await refreshed(first.refresh)];
  const second = await refreshed(first.refresh);
  const third = await refreshed(second.refresh);
  expect(await statusOf(third)).toBe(200);
  // Whoever has one of the lost tokens has read an answer that was not for them.
  isInvalidGrant(await refresh(lost[1]!.refresh));
  for (const tokens of [first, ...lost, second, third]) expect(await statusOf(tokens)).toBe(401);
  isInvalidGrant(await refresh(third.refresh));
});

test('reusing a token after its successor was used revokes its whole grant and no other', async () => {
  const email = newEmail();
  const [first, other] = [await tokensFor(at, client, email), await tokensFor(at, client, email)];
  const second = await refreshed(first.refresh);
  const third = await refreshed(second.refresh);
  expect(await statusOf(first)).toBe(200);
  isInvalidGrant(await refresh(first.refresh));
  for (const tokens of [first, second, third]) expect(await statusOf(tokens)).toBe(401);
  isInvalidGrant(await refresh(third.refresh));
  expect(await statusOf(other)).toBe(200);
  expect(await statusOf(await refreshed(other.refresh))).toBe(200);
});

test('the order of uses counts, not the clock, which a fail-over may set back', async () => {
  const first = await tokensFor(at, client, newEmail());
  await at.db.setShift('10 seconds');
  const second = await refreshed(first.refresh);
  await at.db.setShift('0');
  await refreshed(second.refresh);
  isInvalidGrant(await refresh(first.refresh));
});

test('a thief and the owner of a token cannot both go on, whoever comes first', async () => {
  for (const comesFirst of ['owner', 'thief']) {
    const stolen = await tokensFor(at, client, newEmail());
    const owner = await refreshed(stolen.refresh);
    const thief = await refreshed(stolen.refresh);
    const [one, other] = comesFirst === 'owner' ? [owner, thief] : [thief, owner];
    const reply = await refresh(one.refresh);
    // The token that was replaced is refused at once, and the other one after it.
    if (reply.status === 200) isInvalidGrant(await refresh(other.refresh));
    for (const tokens of [owner, thief]) {
      expect(await statusOf(tokens)).toBe(401);
      isInvalidGrant(await refresh(tokens.refresh));
    }
  }
});

test('of concurrent uses some get tokens and the rest are told to come again; the grant stays', async () => {
  const first = await tokensFor(at, client, newEmail());
  const replies = await Promise.all([1, 2, 3, 4].map(() => refresh(first.refresh)));
  for (const { status, headers } of replies) {
    expect([200, 503]).toContain(status);
    if (status === 503) expect(headers.get('retry-after')).toBe('5');
  }
  expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
  const second = await refreshed(first.refresh);
  expect(await statusOf(await refreshed(second.refresh))).toBe(200);
});

test('a request that was overtaken does not replace what the other got', async () => {
  const records = new SealedRecords(at.db.pool, at.apis[0].secretBox);
  const put = (id: string) =>
    records.put({ model: 'RefreshToken', id, payload: { grantId: 'a grant' }, validSeconds: 60 });
  const find = async (id: string) => (await records.find('RefreshToken', id))!;
  await put('ort_1');
  expect(await records.consumeRefreshToken('ort_1', null)).toBe(true);
  await put('ort_2');
  expect(await records.consumeRefreshToken('ort_1', null)).toBe(false);
  expect([(await find('ort_1')).consumed, (await find('ort_2')).consumed]).toEqual([false, false]);
  expect(await records.consumeRefreshToken('ort_1', (await find('ort_1')).consumedAt)).toBe(true);
  expect([(await find('ort_1')).consumed, (await find('ort_2')).consumed]).toEqual([false, true]);
});
