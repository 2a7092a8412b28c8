import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { retryingJson } from './retrying-json.ts';

/** A line of the simulator's log of what it emitted. */
export interface EmittedItem {
  k: number;
  name: string;
  kind: 'post' | 'comment';
  /** Milliseconds since the epoch. */
  at: number;
  visible_at: number;
  subreddit: string;
  over_18: boolean;
  /** The post of a comment. */
  link_id?: string;
  /** The widest place that shows it; absent unless the simulator leaves something out. */
  shown?: 'all' | 'community' | 'thread' | 'nowhere';
}

/** What was read of each log; tests ask many times a second, and a log is only appended to. */
const logs = new Map<string, { bytes: number; items: EmittedItem[] }>();

/** The things that the simulator reports as emitted, in order. */
export function readEmitted(path: string): EmittedItem[] {
  const log = logs.get(path) ?? { bytes: 0, items: [] };
  logs.set(path, log);
  const appended = readFrom(path, log.bytes);
  // The last line may be incomplete.
  const complete = appended.subarray(0, appended.lastIndexOf('\n') + 1);
  const lines = complete.toString().split('\n').slice(0, -1);
  log.items.push(...lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as EmittedItem));
  log.bytes += complete.length;
  return [...log.items];
}

function readFrom(path: string, position: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(Math.max(0, fstatSync(file).size - position));
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, position));
  } finally {
    closeSync(file);
  }
}

interface Listing {
  data: { children: { kind: 't1' | 't3'; data: Record<string, unknown> }[] };
}

/** The things with these fullnames, from the simulator's own API. */
export async function fetchThings(
  simulator: string,
  names: string[],
): Promise<Map<string, Listing['data']['children'][number]>> {
  const basic = Buffer.from('test:test').toString('base64');
  const headers = {
    authorization: `Basic ${basic}`,
    'user-agent': 'test:forum-monitor:1 (by /u/test)',
    'content-type': 'application/x-www-form-urlencoded',
  };
  const { access_token: token } = await retryingJson<{ access_token: string }>(`${simulator}/api/v1/access_token`, {
    method: 'POST',
    headers,
    body: 'grant_type=client_credentials',
  });
  const things = new Map<string, Listing['data']['children'][number]>();
  for (let from = 0; from < names.length; from += 100) {
    const ids = names.slice(from, from + 100).join(',');
    const listing = await retryingJson<Listing>(`${simulator}/api/info?raw_json=1&id=${ids}`, {
      headers: { authorization: `Bearer ${token}`, 'user-agent': headers['user-agent'] },
    });
    for (const thing of listing.data.children) things.set(String(thing.data.name), thing);
  }
  return things;
}
