import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes of the segments of a topic in the embedded broker's folder of a data directory. */
export function topicBytes(dataDir: string, topic: string): number {
  const folder = join(dataDir, 'kafka');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const segments = files.filter((file) => file.endsWith('.log') && file.includes(`/${topic}-`));
  return segments.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
}
