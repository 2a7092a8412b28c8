import { expect, test } from 'vitest';
import { createLogger } from '../../../../shared/runtime/logger.ts';

function logged(value: object): string {
  let text = '';
  createLogger('info', { write: (line: string) => void (text += line) }).info(value, 'message');
  return text;
}

test.each([
  { authorization: 'Bearer hunter2' },
  { headers: { authorization: 'hunter2', 'x-api-key': 'hunter2' } },
  { req: { headers: { 'x-api-key': 'hunter2', cookie: 'hunter2' } } },
  { account: { api_key: 'hunter2', apiKey: 'hunter2' } },
  { monitor: { webhook_secret: 'hunter2', webhook_url: 'https://chat.example/hunter2' } },
  { code: 'hunter2', secret: 'hunter2', token: 'hunter2', password: 'hunter2' },
])('secrets are redacted: %j', (value) => {
  const line = logged(value);
  expect(line).not.toContain('hunter2');
  expect(line).toContain('[redacted]');
});

test('an error keeps its message, stack, code and cause', () => {
  const error = Object.assign(new Error('outer', { cause: new Error('inner') }), { code: 'ECONNREFUSED' });
  const line = JSON.parse(logged({ err: error })) as { err: Record<string, string> };
  expect(line.err).toMatchObject({ message: 'outer', errorCode: 'ECONNREFUSED', cause: 'inner' });
  expect(line.err.stack).toContain('logger.test.ts');
});
