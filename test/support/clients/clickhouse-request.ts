/** fetch() takes no credentials in a URL: they go into a header. `init` is as of fetch. */
export function askClickhouse(at: string, init: RequestInit = {}): Promise<Response> {
  const url = new URL(at);
  const { username, password } = url;
  const headers = new Headers(init.headers);
  if (username !== '') headers.set('authorization', `Basic ${btoa(`${username}:${password}`)}`);
  url.username = '';
  url.password = '';
  return fetch(url, { ...init, headers });
}
