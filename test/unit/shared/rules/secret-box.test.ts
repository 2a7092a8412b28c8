import { expect, test } from 'vitest';
import { createSecretBox } from '../../../../shared/rules/secret-box.ts';
import { newWebhookSecret } from '../../../../shared/deliveries/rules/webhook-message.ts';

const KEY = 'an installation key of 32 characters';

test('a sealed secret opens to what it was, and shows nothing of it', () => {
  const secret = newWebhookSecret();
  const sealed = createSecretBox(KEY).seal(secret, 'mon_a');
  expect(sealed.toString('latin1')).not.toContain(secret.slice(6, 20));
  expect(createSecretBox(KEY).open(sealed, 'mon_a')).toBe(secret);
});

test('the same secret is never sealed alike twice', () => {
  const box = createSecretBox(KEY);
  expect(box.seal('s', 'c').equals(box.seal('s', 'c'))).toBe(false);
});

test('another key, another row, and any changed byte are noticed', () => {
  const sealed = createSecretBox(KEY).seal('secret', 'mon_a');
  expect(() => createSecretBox(`${KEY}!`).open(sealed, 'mon_a')).toThrow();
  expect(() => createSecretBox(KEY).open(sealed, 'mon_b')).toThrow();
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    expect(() => createSecretBox(KEY).open(changed, 'mon_a')).toThrow();
  }
  expect(() => createSecretBox(KEY).open(sealed.subarray(0, 20), 'mon_a')).toThrow('known format');
});

test('while a key is replaced, processes with either key first open what the other sealed', () => {
  const [former, next] = [KEY, `${KEY}!`];
  const before = createSecretBox(former, [next]);
  const after = createSecretBox(next, [former]);
  for (const box of [before, after]) {
    expect(before.open(box.seal('secret', 'mon_a'), 'mon_a')).toBe('secret');
    expect(after.open(box.seal('secret', 'mon_a'), 'mon_a')).toBe('secret');
  }
  expect(createSecretBox(next).open(after.seal('secret', 'mon_a'), 'mon_a')).toBe('secret');
  expect(() => createSecretBox(next).open(before.seal('secret', 'mon_a'), 'mon_a')).toThrow();
  expect(() => after.open(createSecretBox('a third key').seal('secret', 'mon_a'), 'mon_a')).toThrow();
});
