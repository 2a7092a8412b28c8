const NO_MAIL = 'no mail can be sent to the address of the account';

/** For people, what the API says of a field in a phrase. */
const SENTENCES = new Map([
  ['must have at least one term, or "terms" must', 'Enter at least one keyword.'],
  ['must not be empty', 'Enter a name.'],
  ['must be an https:// URL', 'Enter a URL that begins with https://.'],
  ['must be an https:// or http:// URL', 'Enter a URL that begins with https:// or http://.'],
  ['must resolve to a public Internet address', 'Enter the URL of a server that the Internet can reach.'],
  ['needs a webhook_url', 'This needs a webhook URL.'],
  [
    `needs a webhook_url, because ${NO_MAIL}`,
    'This needs a webhook URL: no mail can be sent to the address of your account.',
  ],
  [`must not be set, because ${NO_MAIL}`, 'No mail can be sent to the address of your account.'],
  ['must be the address of this account, as GET /v1/account shows it', 'Enter the address of this account.'],
]);

/** Names of fields in forms that differ from those of the API. */
const LABELS = new Map([
  ['exclude', 'Excluded terms'],
  ['subreddits', 'Communities'],
  ['terms', 'Keywords with conditions'],
  ['require', 'Also required'],
  ['exclude_subreddits', 'Communities to leave out'],
  ['authors', 'Only by these accounts'],
  ['exclude_authors', 'Not by these accounts'],
  ['languages', 'Only in these languages'],
]);

/** Without these verbs a message stands by itself. */
const IS_PHRASE = /^(?:must|has|have|is|needs|cannot) /;

/** @param entry what was typed, where the fault is in one entry of a list */
export function faultSentence(name: string, message: string, entry?: string): string {
  if (entry !== undefined) return `“${entry}” ${message}${IS_PHRASE.test(message) ? '.' : ''}`;
  const known = SENTENCES.get(message);
  if (known !== undefined) return known;
  if (IS_PHRASE.test(message)) return `${labelOf(name)} ${message}.`;
  // That of a rule as text has a caret below the position.
  return name === 'query' || message.endsWith('.') ? message : `${message}.`;
}

function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/\burl\b/, 'URL');
  return LABELS.get(name) ?? words.charAt(0).toUpperCase() + words.slice(1);
}
