import type { Installation } from '../children/installation.ts';

export interface PageMatch {
  id: string;
  monitor_id: string;
  thing_id: string;
  kind: 'post' | 'comment';
  matched_terms: string[];
  created_at: string;
  suppressed: boolean;
  delivery_status: string;
  title: string;
  body: string;
}

interface Page {
  items: PageMatch[];
  after: string | null;
}

/** All matches of a monitor, read page by page, oldest first. */
export async function allMatches(installation: Installation, key: string, monitor: string): Promise<PageMatch[]> {
  const matches: PageMatch[] = [];
  let after: string | null = null;
  do {
    const cursor: string = after === null ? '' : `&after=${after}`;
    const { status, body } = await installation.call(key, 'GET', `/v1/monitors/${monitor}/matches?limit=200${cursor}`);
    if (status !== 200) throw new Error(`matches answered ${status}: ${JSON.stringify(body)}`);
    const page = body as Page;
    matches.push(...page.items);
    after = page.after;
  } while (after !== null);
  return matches;
}
