import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { receiverCode } from '../../../../../../services/api/dashboard/monitors/webhook-page.ts';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../../../../../..', path), 'utf8');

/** The tests of webhooks run the examples of the documentation. */
test('the receivers are those of the documentation, with a comment about the monitor', () => {
  const [node, python] = receiverCode({ name: 'Rust', webhookUrl: 'https://hooks.example.com/secret-path' });
  const inNode = /<!-- receiver -->\s*```js\n.*\n([^]*?)```/.exec(read('docs/guide/webhooks.md'))![1]!;
  const inPython = /<!-- receiver-python -->\s*```python\n([^]*?)```/.exec(read('docs/guide/webhooks.md'))![1]!;
  expect(node!.code).toBe(`// Receives the matches of Rust at hooks.example.com\n${inNode}`);
  expect(python!.code).toBe(`# Receives the matches of Rust at hooks.example.com\n${inPython}`);
});

test('no name ends the comment', () => {
  for (const name of ['a\nprocess.exit()', 'a\u2028b', 'a\r\nb']) {
    for (const { code } of receiverCode({ name, webhookUrl: null })) {
      expect(code.split('\n')[0]).toMatch(/^(?:\/\/|#) Receives the matches of a .*$/);
      expect(code.split('\n')[1]).toMatch(/^import/);
    }
  }
});
