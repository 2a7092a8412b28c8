import { renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';

// DATA_DIR=/some/folder npx node test/support/runner/dev-engines.ts: engines to try things on, until SIGTERM or SIGINT.
// Prints their URLs as one JSON line, and keeps them in DATA_DIR/urls.json.
const dataDir = resolve(process.env['DATA_DIR'] ?? '.data-dev');
const stopped = new Promise<void>((done) => {
  process.once('SIGTERM', () => done());
  process.once('SIGINT', () => done());
});
const engines = await startEngines({ dataDir, env: process.env, progress: (line) => console.error(line) });
const urls = JSON.stringify({ ...engines.urls, clickhouseReadOnly: engines.clickhouseReadOnlyUrl });
writeFileSync(`${dataDir}/urls.json.new`, `${urls}\n`, { mode: 0o600 });
renameSync(`${dataDir}/urls.json.new`, `${dataDir}/urls.json`);
console.log(urls);
await stopped;
await engines.stop();
