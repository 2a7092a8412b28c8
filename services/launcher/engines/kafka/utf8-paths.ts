/**
 * The environment for a Java program. In the locale "C", which cron and containers have, Java cannot open paths with
 * letters beyond ASCII. So where no locale with UTF-8 is named, it gets one that every system has.
 */
export function withUtf8Paths(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // The first that is set and not empty counts, as in setlocale(3).
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return /utf-?8/i.test(locale) ? env : { ...env, LC_ALL: 'C.UTF-8' };
}
