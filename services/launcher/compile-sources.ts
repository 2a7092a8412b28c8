import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { COLLECTABLE } from '../../shared/runtime/lifecycle.ts';
import { NODE_ARGUMENTS } from './child-processes.ts';

const root = new URL('../../', import.meta.url);

/** Programs by their arguments of Node, since what is compiled is valid for the same ones only. */
const PROGRAMS: readonly { nodeArguments: readonly string[]; entries: readonly string[] }[] = [
  {
    nodeArguments: [COLLECTABLE],
    entries: [
      'services/main.ts',
      'services/simulator/main.ts',
      'services/launcher/engines/clickhouse/clickhouse-main.ts',
    ],
  },
  {
    nodeArguments: NODE_ARGUMENTS,
    // All but the first are imported only where the API is served.
    entries: [
      'services/services-main.ts',
      'services/api/start-api.ts',
      'services/api/demo-account.ts',
      'services/api/matches/live-tails.ts',
    ],
  },
];

/**
 * Compiles the sources of all processes of `npm start`, by default into the folder that `start.mjs` names. A process
 * that finds them there does not load Node's type stripper (15 to 40 MB). Nothing depends on this.
 */
export function compileSources(folder = fileURLToPath(new URL('node_modules/.cache/compiled', root))): void {
  for (const { nodeArguments, entries } of PROGRAMS) {
    const imports = entries.map((entry) => `import ${JSON.stringify(new URL(entry, root).href)};`);
    // Modules are compiled before they are linked. The export that does not exist ends this, so none of them runs.
    const program = `${imports.join('\n')}\nimport { nothing } from 'node:module';`;
    spawnSync(process.execPath, [...nodeArguments, '--input-type=module', '--eval', program], {
      env: { ...process.env, NODE_COMPILE_CACHE: folder },
      stdio: 'ignore',
    });
  }
}
