/**
 * What scripts/check-containers.sh runs beside Podman, in the namespaces that it made: `build` where the registry is
 * reached, then `run` where nothing is.
 */
import { build } from './build.ts';
import { runInstallation } from './run.ts';

const [stage] = process.argv.slice(2);
await (stage === 'build' ? build() : runInstallation());
// Containers that are left end with the namespaces.
process.exit(0);
