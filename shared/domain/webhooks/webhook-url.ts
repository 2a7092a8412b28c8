import { chatUrlFault } from './webhook-kind.ts';

const MAX_URL_LENGTH = 2_048;

/**
 * Checks the text of a webhook's URL. Returns what is wrong with it, or undefined. It does not check whether the
 * address is public.
 *
 * @param allowHttp whether http:// is accepted too (development and tests)
 */
export function webhookUrlFault(text: string, allowHttp: boolean): string | undefined {
  const schemes = allowHttp ? /^https?:\/\// : /^https:\/\//;
  // URL parsers drop white space and read backslashes as slashes. Refuse both, so that the stored URL is the called
  // URL.
  if (!schemes.test(text.toLowerCase()) || /[\s\\]/.test(text) || !URL.canParse(text)) {
    return `must be an ${allowHttp ? 'https:// or http://' : 'https://'} URL`;
  }
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or a password';
  return chatUrlFault(url);
}
