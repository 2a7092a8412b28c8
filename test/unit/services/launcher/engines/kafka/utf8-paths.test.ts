import { expect, test } from 'vitest';
import { withUtf8Paths } from '../../../../../../services/launcher/engines/kafka/utf8-paths.ts';

test.each([
  {},
  { LANG: '' },
  { LANG: 'C' },
  { LC_ALL: 'POSIX', LANG: 'en_US.UTF-8' },
  { LC_CTYPE: 'de_DE.ISO-8859-1', LANG: 'de_DE.UTF-8' },
])('where %j names no UTF-8, Java gets a locale that does', (env) => {
  expect(withUtf8Paths({ PATH: '/bin', ...env })).toEqual({ PATH: '/bin', ...env, LC_ALL: 'C.UTF-8' });
});

test.each([
  { LANG: 'en_US.UTF-8' },
  { LC_ALL: '', LC_CTYPE: '', LANG: 'C.utf8' },
  { LC_CTYPE: 'UTF-8', LANG: 'C' },
  { LC_ALL: 'de_DE.utf-8', LANG: 'C' },
])('a locale with UTF-8 stays: %j', (env) => {
  expect(withUtf8Paths(env)).toEqual(env);
});
