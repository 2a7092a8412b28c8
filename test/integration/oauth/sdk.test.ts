import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  allow,
  newEmail,
  publish,
  REDIRECT,
  startOAuthInstallation,
} from '../../support/fixtures/oauth-installation.ts';
import type { OAuthInstallation } from '../../support/fixtures/oauth-installation.ts';

let at: OAuthInstallation;

beforeAll(async () => {
  at = await startOAuthInstallation();
});
afterAll(() => at.stop());

/** A client as the SDK's provider interface requires it, with all state in memory. */
class Program implements OAuthClientProvider {
  redirectUrl = REDIRECT;
  clientMetadataUrl?: string;
  information: StoredOAuthClientInformation | undefined;
  saved: StoredOAuthTokens | undefined;
  sentTo: URL | undefined;
  verifier = '';
  private discovery: OAuthDiscoveryState | undefined;

  constructor(documentUrl?: string) {
    if (documentUrl !== undefined) this.clientMetadataUrl = documentUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    return { client_name: 'Notebook', redirect_uris: [REDIRECT], grant_types: ['authorization_code', 'refresh_token'] };
  }

  state = () => 'a state';
  clientInformation = () => this.information;
  saveClientInformation = (information: StoredOAuthClientInformation) => void (this.information = information);
  tokens = () => this.saved;
  saveTokens = (tokens: StoredOAuthTokens) => void (this.saved = tokens);
  redirectToAuthorization = (url: URL) => void (this.sentTo = url);
  saveCodeVerifier = (verifier: string) => void (this.verifier = verifier);
  codeVerifier = () => this.verifier;
  saveDiscoveryState = (state: OAuthDiscoveryState) => void (this.discovery = state);
  discoveryState = () => this.discovery;
  invalidateCredentials = (what: string) => {
    if (what === 'tokens' || what === 'all') this.saved = undefined;
  };
}

function connectionOf(program: Program): { client: Client; transport: StreamableHTTPClientTransport } {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(at.resource), { authProvider: program, fetch: at.fetch });
  return { client, transport };
}

/** Connects, is refused, signs in and connects again. */
async function connect(program: Program, email: string): Promise<Client> {
  const first = connectionOf(program);
  await expect(first.client.connect(first.transport)).rejects.toThrow(UnauthorizedError);
  const callback = await allow(at, program.sentTo!, email);
  expect(callback.searchParams.get('iss')).toBe(at.baseUrl);
  await first.transport.finishAuth(callback.searchParams);
  const second = connectionOf(program);
  await second.client.connect(second.transport);
  return second.client;
}

test.each([
  ['a document', () => new Program(publish(at))],
  ['registration', () => new Program()],
])(
  'a client known by %s finds the sign-in, is authorised, calls tools and renews its tokens',
  async (_way, programOf) => {
    const program = programOf();
    const client = await connect(program, newEmail());
    const listed = await client.callTool({ name: 'list_subreddit_posts', arguments: { sub: 'coffee', limit: 2 } });
    expect(listed.isError).not.toBe(true);
    expect(listed._meta).toMatchObject({ credits_used: 1, credits_remaining: 199 });
    expect((await client.callTool({ name: 'list_monitors', arguments: {} })).isError).not.toBe(true);

    // Its access token expires; the SDK renews it by itself.
    const before = program.saved!;
    await at.db.pool.query(`UPDATE oauth_records SET expires_at = service_now() WHERE model = 'AccessToken'`);
    expect((await client.callTool({ name: 'list_monitors', arguments: {} })).isError).not.toBe(true);
    expect(program.saved!.access_token).not.toBe(before.access_token);
    expect(program.saved!.refresh_token).not.toBe(before.refresh_token);
    await client.close();
  },
);
