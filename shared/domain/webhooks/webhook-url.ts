const LONGEST_URL = 2_048;

/**
 * What is wrong with a webhook's URL as a text; undefined when nothing is. Whether its address is public is not decided
 * here.
 *
 * @param allowHttp http:// is accepted too (development and tests)
 */
export function webhookUrlFault(text: string, allowHttp: boolean): string | undefined {
  const schemes = allowHttp ? /^https?:\/\// : /^https:\/\//;
  // URL parsers drop white space and read backslashes as slashes: refused, so that what is stored is what is called.
  if (!schemes.test(text.toLowerCase()) || /[\s\\]/.test(text) || !URL.canParse(text)) {
    return `must be an ${allowHttp ? 'https:// or http://' : 'https://'} URL`;
  }
  if (text.length > LONGEST_URL) return `must have at most ${LONGEST_URL} characters`;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or a password';
  return undefined;
}
