/** fetch() rejects credentials in a URL, so this sends them in a header. `init` is that of fetch. */
export function askClickhouse(address: string, init: RequestInit = {}): Promise<Response> {
  const url = new URL(address);
  const { username, password } = url;
  const headers = new Headers(init.headers);
  if (username !== '') headers.set('authorization', `Basic ${btoa(`${username}:${password}`)}`);
  url.username = '';
  url.password = '';
  return fetch(url, { ...init, headers });
}
