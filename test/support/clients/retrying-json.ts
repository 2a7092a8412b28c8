import { eventually } from '../fixtures/eventually.ts';

/** Fetches JSON. Retries for 20 s while the server is unavailable or refuses. */
export function retryingJson<T>(url: string, init: RequestInit = {}): Promise<T> {
  return eventually(
    `an answer from ${url.slice(0, 80)}`,
    async () => {
      const response = await fetch(url, init);
      return response.ok ? ((await response.json()) as T) : undefined;
    },
    20_000,
  );
}
