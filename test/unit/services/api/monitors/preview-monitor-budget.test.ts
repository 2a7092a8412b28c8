import { expect, test } from 'vitest';
import { diffMonitor, previewMonitor } from '../../../../../services/api/monitors/preview-monitor.ts';
import type { PreviewDeps } from '../../../../../services/api/monitors/preview-monitor.ts';
import type { Rule } from '../../../../../shared/matching/rule.ts';
import { createMetrics } from '../../../../../shared/runtime/metrics.ts';

const rule: Rule = { keywords: ['rust'], exclude: [], subreddits: [], posts: true, comments: true, nsfw: true };
const asked = { days: 30, disconnected: undefined, budgetMs: 20 };

/** An archive whose first answer comes when the client's time is up, and that gives no other. */
function slowArchive() {
  let queries = 0;
  const query = async ({ abort_signal: signal }: { abort_signal: AbortSignal }) => {
    queries += 1;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    if (queries > 1) throw new DOMException('The operation was aborted.', 'AbortError');
    return { json: () => Promise.resolve([{ items: 1, startMs: 0 }]) };
  };
  const clock = () => Date.parse('2026-03-04T10:00:00Z');
  return { clickhouse: { query }, clock, metrics: createMetrics() } as unknown as PreviewDeps;
}

test(
  'a preview whose time was used up by the first question to the archive takes no more',
  { timeout: 4_000 },
  async () => {
    const run = previewMonitor(slowArchive(), { ...asked, rule, threadOnce: false, pack: 0 });
    await expect(run.next()).rejects.toThrow('The archive did not respond in time.');
  },
);

test('nor does a comparison', { timeout: 4_000 }, async () => {
  const comparing = diffMonitor(slowArchive(), { ...asked, before: rule, after: rule, mutes: [] });
  await expect(comparing).rejects.toThrow('The archive did not respond in time.');
});
