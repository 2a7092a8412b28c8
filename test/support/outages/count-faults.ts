/** What services logged about faults of their own: each message, with its request's path and status, and its count. */
export function countFaults(output: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of output.split('\n')) {
    if (!/"level":"?(error|fatal|50|60)/.test(line)) continue;
    const { msg, path = '', status = '' } = JSON.parse(line) as { msg: string; path?: string; status?: number };
    const name = [msg, path, status].join(' ').trim();
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
