import { monitorExamples } from './monitor-examples.ts';

const [match] = monitorExamples.page.items;

/** The files that have the one match of the example page. */
export const FILE_EXAMPLES = {
  csv: `id,monitor_id,created_at\r\n${match!.id},${match!.monitor_id},${match!.created_at}\r\n`,
  ndjson: `${JSON.stringify(match)}\n`,
};
