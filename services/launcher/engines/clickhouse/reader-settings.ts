export const MAX_RESPONSE_BYTES = 256 * 2 ** 20;

/**
 * The limits of each statement of a reader: seconds, rows and bytes of the result, bytes in memory and on disk,
 * threads. Readers may set smaller values.
 */
const LIMITS: Record<string, number> = {
  max_execution_time: 30,
  max_result_rows: 1_000_000,
  max_result_bytes: MAX_RESPONSE_BYTES,
  max_memory_usage: 2 ** 30,
  max_temporary_data_on_disk_size_for_query: 2 ** 30,
  max_threads: 4,
};

/** The settings of a reader within the limits. What drivers send as `readonly` has no effect. */
export function readerSettings({ readonly: _, ...requested }: Record<string, string>): Record<string, string> {
  const limits = Object.entries(LIMITS).map(([name, limit]): [string, string] => {
    const value = Number(requested[name] ?? limit);
    return [name, String(value > 0 && value < limit ? value : limit)];
  });
  return { ...requested, ...Object.fromEntries(limits) };
}
