/**
 * What scripts/check-containers.sh runs beside Podman, in the namespaces that it made: `build` where the registry is
 * reached, then `run` where nothing is.
 */
import { build } from './build.ts';

const [stage] = process.argv.slice(2);
await (stage === 'build' ? build() : Promise.reject(new Error('not yet')));
