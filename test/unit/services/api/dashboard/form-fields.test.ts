import { expect, test } from 'vitest';
import { FormFields } from '../../../../../services/api/dashboard/form-fields.ts';

test('a field is text without spaces around it, and empty when it is absent', () => {
  const fields = new FormFields({ name: '  Ada  ', twice: [' a ', '', 'b'] });
  expect(fields.text('name')).toBe('Ada');
  expect(fields.text('nothing')).toBe('');
  expect(fields.text('twice')).toBe('a');
  expect(fields.all('twice')).toEqual(['a', 'b']);
  expect(fields.all('nothing')).toEqual([]);
  expect([fields.has('name'), fields.has('nothing')]).toEqual([true, false]);
});

test('lines are those of every system, without empty ones', () => {
  expect(new FormFields({ text: ' a\r\n\r\n b \rc\n\n' }).lines('text')).toEqual(['a', 'b', 'c']);
});

test('what is not text is ignored, and names of objects are no fields', () => {
  const fields = new FormFields({ nested: { a: 'b' }, mixed: [{ a: 'b' }, 'c'] });
  expect(fields.text('nested')).toBe('');
  expect(fields.text('mixed')).toBe('c');
  expect(fields.text('constructor')).toBe('');
});
