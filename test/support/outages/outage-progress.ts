/** What has happened so far; a figure is null while the engine that knows it cannot be asked. */
export interface Progress {
  emitted: number;
  /** Records in the topics of items. */
  appended: number | null;
  recorded: number | null;
  webhooks: number;
  /** Items in ClickHouse. */
  archived: number | null;
}

/** What happened between two moments. */
export function difference(before: Progress, after: Progress): Progress {
  const less = (key: 'appended' | 'recorded' | 'archived') => {
    const [from, to] = [before[key], after[key]];
    return from === null || to === null ? null : to - from;
  };
  return {
    emitted: after.emitted - before.emitted,
    appended: less('appended'),
    recorded: less('recorded'),
    webhooks: after.webhooks - before.webhooks,
    archived: less('archived'),
  };
}
