import type { MonitorMute } from '../../../schemas/api/monitors/monitor-mutes.ts';
import { inlineText } from '../reading/comments/inline-text.ts';

export function mutesText({ items, limit }: { items: MonitorMute[]; limit: number }): string {
  return [`${items.length} of ${limit} mutes:`, ...items.map((mute) => `- ${muteLine(mute)}`)].join('\n');
}

export function muteText({ mute }: { mute: MonitorMute }): string {
  return `Muted: ${muteLine(mute)}`;
}

export function muteRemovedText(): string {
  return 'No longer muted.';
}

function muteLine({ id, kind, value }: MonitorMute): string {
  const prefix = { subreddit: 'r/', author: 'u/', thread: '' }[kind];
  return `${prefix}${inlineText(value)} (${id})`;
}
