import { expect, test } from 'vitest';
import { newApiKey, newOAuthSecret } from '../../shared/accounts/rules/credentials.ts';
import { newWebhookSecret } from '../../shared/deliveries/rules/webhook-message.ts';
import { findSecrets } from '../support/runner/find-secrets.ts';

test.each([
  ['an API key', newApiKey().key],
  ['a webhook secret', newWebhookSecret()],
  ['a sign-up token', `sgn_${'0'.repeat(32)}`],
  ['a token of the sign-in', newOAuthSecret('access token')],
  ['a token of the sign-in', newOAuthSecret('refresh token')],
  ['a token of the sign-in', newOAuthSecret('code')],
  ['a token of the sign-in', newOAuthSecret('client secret')],
  ['credentials in a header', 'authorization: Bearer aGVsbG8gd29ybGQgaGVsbG8'],
  ['credentials in a header', '"Basic dXNlcjpwYXNzd29yZDEyMw=="'],
  ['credentials in a URL', 'smtp://user:pass@mail.test'],
  ['credentials in a URL', '"postgres://forum:s3cret@127.0.0.1:5432/forum"'],
  ['the address of a chat webhook', 'https://hooks.slack.test/services/T012345/B012345/abcdefghijkl'],
  ['the address of a chat webhook', 'https://chat.test/api/webhooks/123456789/abcdefghijkl'],
  ['an e-mail address', 'no mail to First.Last+tag@example.com'],
])('%s is found in a log', (what, secret) => {
  const log = `{"msg":"fine"}\n{"msg":"x ${secret} y"}\n{"msg":"fine"}`;
  expect(findSecrets(log).map((found) => found.what)).toEqual([what]);
});

test('ordinary lines hold none', () => {
  const lines = [
    '{"level":30,"requestId":"6b8f0c1e-3a52-4a0e-9f5d-0d6c1f3b7a90","method":"GET","path":"/v1/account","status":200}',
    '{"level":30,"msg":"listens on http://127.0.0.1:8080","kafka":"kafka://127.0.0.1:9092"}',
    '{"level":40,"keyId":"4q8z1n6d","accountId":"acc_5n2w8r0c6h1j","host":"receiver.example"}',
    '{"apiKey":"[redacted]","code":"[redacted]"}',
  ];
  expect(findSecrets(lines.join('\n'))).toEqual([]);
});
