/** The page that a browser shows, or the address where it left the service. */
export interface SeenPage {
  status: number;
  url: URL;
  html: string;
  headers: Headers;
  /** Set when a redirect led to another origin: the client's. */
  leftTo: URL | undefined;
}

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

interface Cookie {
  name: string;
  value: string;
  path: string;
}

const MOST_REDIRECTS = 10;

/**
 * A browser without scripts. It keeps cookies by path, follows redirects within the service, and submits the forms of
 * its current page.
 */
export class Browser {
  cookies: Cookie[] = [];
  /** All received Set-Cookie headers. */
  readonly setCookies: string[] = [];
  private readonly fetch: Fetch;
  private page: SeenPage | undefined;

  constructor(fetch: Fetch) {
    this.fetch = fetch;
  }

  open(url: string | URL, headers: Record<string, string> = {}): Promise<SeenPage> {
    return this.go(new URL(url), { headers });
  }

  /** Submits the form of the current page whose action ends with this text. */
  submit(ending: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<SeenPage> {
    if (!this.page) throw new Error('no page is open');
    const actions = [...this.page.html.matchAll(/<form method="post" action="([^"]+)"/g)].map((found) => found[1]!);
    const action = actions.find((one) => one.endsWith(ending));
    if (action === undefined) throw new Error(`the page has no form …${ending}: ${this.page.html}`);
    const hidden = [...this.page.html.matchAll(/<input type="hidden"[^>]* name="([^"]+)"[^>]* value="([^"]*)"/g)];
    const hiddenFields = Object.fromEntries(hidden.map(([, name, value]) => [name!, value!]));
    return this.go(new URL(action, this.page.url), {
      method: 'POST',
      body: new URLSearchParams({ ...hiddenFields, ...fields }).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        // As in the Fetch standard for forms of pages that send no referrer.
        origin: this.page.headers.get('referrer-policy') === 'no-referrer' ? 'null' : this.page.url.origin,
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
    });
  }

  private async go(start: URL, init: RequestInit): Promise<SeenPage> {
    let url = start;
    let request = init;
    for (let redirects = 0; redirects < MOST_REDIRECTS; redirects++) {
      const headers = new Headers(request.headers);
      headers.set('accept', 'text/html,*/*');
      const cookie = this.cookiesFor(url.pathname);
      if (cookie !== '') headers.set('cookie', cookie);
      const response = await this.fetch(url, { ...request, headers, redirect: 'manual' });
      for (const text of response.headers.getSetCookie()) this.keep(text);
      const location = response.headers.get('location');
      if (location === null) {
        const page = await response.text();
        return (this.page = { status: response.status, url, html: page, headers: response.headers, leftTo: undefined });
      }
      await response.body?.cancel();
      const next = new URL(location, url);
      if (next.origin !== start.origin) {
        return { status: response.status, url, html: '', headers: response.headers, leftTo: next };
      }
      [url, request] = [next, {}];
    }
    throw new Error(`too many redirects at ${url.href}`);
  }

  private cookiesFor(path: string): string {
    return this.cookies
      .filter((cookie) => path === cookie.path || path.startsWith(cookie.path === '/' ? '/' : `${cookie.path}/`))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  private keep(text: string): void {
    this.setCookies.push(text);
    const [pair = '', ...attributes] = text.split(/; */);
    const [name = '', value = ''] = pair.split('=');
    const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? '/';
    this.cookies = this.cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
    if (value !== '' && !/expires=Thu, 01 Jan 1970/.test(text)) this.cookies.push({ name, value, path });
  }
}

export const titleOf = ({ html }: SeenPage): string | undefined => /<h1>([^<]*)<\/h1>/.exec(html)?.[1];

/** The problem that a page shows. */
export const problemOn = ({ html }: SeenPage): string | undefined =>
  /<p id="problem" role="alert">([^<]*)<\/p>/.exec(html)?.[1];
