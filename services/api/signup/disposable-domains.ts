import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';

/** Whether a domain, or a parent domain, is known for temporary inboxes. */
export type DisposableCheck = (domain: string) => boolean;

/** The list is read once: about 9,000 domains. */
export function createDisposableCheck(): DisposableCheck {
  const known = disposableEmailBlocklistSet();
  return (domain) => {
    for (let rest = domain; rest.includes('.'); rest = rest.slice(rest.indexOf('.') + 1)) {
      if (known.has(rest)) return true;
    }
    return false;
  };
}
