import { expect, test } from 'vitest';
import { createLogger } from '../../../../shared/runtime/logger.ts';
import { hasColors, logFormatOf, prettyLog } from '../../../../shared/runtime/pretty-log.ts';

function written(isColored = false) {
  const output = { text: '', isTTY: true, hasColors: () => isColored, write: (text: string) => (output.text += text) };
  return { output, logger: createLogger('info', prettyLog(output)) };
}

test('a line for people has time, level, source, message and fields, and below it the stack of an error', () => {
  const { output, logger } = written();
  logger.info({ service: 'matcher', monitors: 3, list: ['a', 'b c'], title: 'two words' }, 'loaded');
  logger.error({ err: new Error('no\u001b[2J') }, 'failed');
  const lines = output.text.split('\n');
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d INFO {2}matcher: loaded monitors=3 list=\["a","b c"\] title="two words"$/);
  expect(lines[1]).toMatch(/^\d\d:\d\d:\d\d ERROR failed$/);
  expect(lines[2]).toBe('  Error: no?[2J');
});

test('what a stack does not say stands beside it: the code and the causes of an error', () => {
  const { output, logger } = written();
  const refused = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' });
  const failed = new TypeError('fetch failed', { cause: new Error('no connection', { cause: refused }) });
  logger.error({ err: Object.assign(failed, { code: 'EFETCH' }) }, 'unreachable');
  const [line, stack] = output.text.split('\n');
  expect(line).toMatch(/unreachable errorCode=EFETCH cause="no connection: ECONNREFUSED"$/);
  expect(stack).toBe('  TypeError: fetch failed');
});

test('no text looks like another line or steers the terminal', () => {
  const { output, logger } = written();
  logger.warn('x\n12:00:00 ERROR api: forged\u202e\u2028');
  logger.warn({ 'a\u001b[31m\nb': 1 }, 'named');
  logger.error({ err: new Error('boom\n12:00:00 INFO api: all is well') }, 'failed');
  const lines = output.text.split('\n');
  expect(lines[0]).toMatch(/WARN {2}x\\n12:00:00 ERROR api: forged\?\?$/);
  expect(lines[1]).toMatch(/WARN {2}named a\?\[31m\\nb=1$/);
  expect(lines.filter((line) => /^\d\d:\d\d/.test(line))).toHaveLength(3);
  expect(lines[4]).toBe('  12:00:00 INFO api: all is well');
});

test.each([5, null, ['a']])('a message that is no text is written as JSON: %j', (msg) => {
  const { output, logger } = written();
  logger.info({ msg });
  expect(output.text).toContain(`INFO  ${JSON.stringify(msg)}\n`);
});

test('an error that is no object is a field', () => {
  const { output, logger } = written();
  logger.info({ err: 'text' }, 'odd');
  expect(output.text).toMatch(/odd err=text\n$/);
});

test('secrets are redacted there too', () => {
  const { output, logger } = written();
  logger.warn({ token: 'hunter2' }, 'careful');
  expect(output.text).toContain('careful token="[redacted]"');
});

test('a terminal gets pretty lines by default and anything else JSON; LOG_FORMAT decides otherwise', () => {
  const terminal = { isTTY: true, write: () => true };
  const pipe = { write: () => true };
  expect([logFormatOf(undefined, terminal), logFormatOf(undefined, pipe)]).toEqual(['pretty', 'json']);
  expect([logFormatOf('json', terminal), logFormatOf('pretty', pipe)]).toEqual(['json', 'pretty']);
});

test('colours are for terminals that have them', () => {
  const { output, logger } = written(true);
  logger.warn('yellow');
  expect(output.text).toContain('\u001b[33mWARN ');
  expect(hasColors({ isTTY: true, hasColors: () => false, write: () => true })).toBe(false);
  expect(hasColors({ write: () => true })).toBe(false);
});
