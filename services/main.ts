import { constants, enableCompileCache } from 'node:module';
import { join } from 'node:path';

// `npm start` runs a whole installation. `npm start -- matcher recorder` runs these services beside a running one.
// Files that this process and its children create are accessible only to the current user.
process.umask(0o077);

// Half the time of a start. The children find the folder by their environment.
const compiled = process.env.NODE_COMPILE_CACHE || join(import.meta.dirname, '../node_modules/.cache/compiled');
if (enableCompileCache(compiled).status !== constants.compileCacheStatus.FAILED) {
  process.env.NODE_COMPILE_CACHE = compiled;
}

const { launch } = await import('./launcher/launch.ts');
process.exit(await launch(process.argv.slice(2)));
