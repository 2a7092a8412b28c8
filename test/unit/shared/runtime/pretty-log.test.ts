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
  expect(lines[2]).toBe('Error: no?[2J');
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
