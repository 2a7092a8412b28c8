/** What must never be in a log, and how it looks. */
const SECRETS: Readonly<Record<string, RegExp>> = {
  'an API key': /fk_[0-9a-hjkmnp-tv-z]{40}/,
  'a webhook secret': /whsec_[A-Za-z0-9+/]{16}/,
  'a sign-up token': /sgn_[0-9a-hjkmnp-tv-z]{32}/,
  'a link of a mail': /lnk_[0-9a-hjkmnp-tv-z]{26}/,
  'a token of the sign-in': /o(at|rt|ac|cs)_[0-9a-hjkmnp-tv-z]{52}/,
  'credentials in a header': /\b(bearer|basic) +[A-Za-z0-9_+/=-]{16}/i,
  'credentials in a URL': /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@"'\\]+:[^\s/@"'\\]+@/,
  'the address of a chat webhook': /\/(services\/T\w+\/B\w+|api\/webhooks\/\d+)\/\w{8}/,
  'an e-mail address': /[\w.+-]+@(example|gmail|googlemail)\.(com|org|net)/i,
};

export interface FoundSecret {
  what: string;
  line: string;
}

/** The lines of a log that hold a secret. */
export function findSecrets(log: string): FoundSecret[] {
  return log.split('\n').flatMap((line) => {
    const what = Object.entries(SECRETS).find(([, pattern]) => pattern.test(line))?.[0];
    return what === undefined ? [] : [{ what, line }];
  });
}
