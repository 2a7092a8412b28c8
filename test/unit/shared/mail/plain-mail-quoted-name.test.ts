import { expect, test } from 'vitest';
import { quotedName } from '../../../../shared/mail/plain-mail.ts';

test.each([
  ['Rust jobs', '“Rust jobs”'],
  ['Node.js und Ähnliches', '“Node. js und Ähnliches”'],
  ['r/rust', '“r/ rust”'],
  ['https://evil.example/x', '“https: / / evil. example/ x”'],
  ['mail me@evil.example now', '“mail me @ evil. example now”'],
  ['two\r\nBcc: a@b.example\n\nlines', '“two Bcc: a @ b. example lines”'],
  ['\u202egpj.exe\u200b', '“gpj. exe”'],
  ['  ', '“”'],
  ['x'.repeat(61), `“${'x'.repeat(60)}…”`],
  ['🦀'.repeat(60), `“${'🦀'.repeat(60)}”`],
])('%j is mailed as %j', (name, quoted) => {
  expect(quotedName(name)).toBe(quoted);
});
