/**
 * What scripts/check-containers.sh runs beside Podman, in the namespaces that it made: `build` where the registry is
 * reached, then `run` where nothing is.
 */
import { build } from './build.ts';
import { runInstallation } from './run.ts';

const [stage] = process.argv.slice(2);
const SUMMARY = `
part of deploy/                 proven by
Dockerfile, .dockerignore       the image, built by Podman
healthcheck.mjs                 Podman's health checks of api and workers
compose.yaml                    podman-compose: networks, volumes, health, order, restarts, user, capabilities
compose/trial.env               the settings of the installation
backup/back-up.sh, restore.sh   a restoration into an empty server, with equal checksums
upgrade (docs/operate)          its commands, under load
not run: the profile observability, kubernetes/, clickhouse/, a registry, a forum or mail outside

Replaced: Docker by Podman; the base image by Debian and Node's package; the images of Kafka (its jars) and PostgreSQL
(Debian's) by ones made here; ClickHouse by the embedded engine behind a proxy; lines of test/containers/override.yaml.`;
if (stage === 'build') {
  await build();
} else {
  await runInstallation();
  console.log(SUMMARY);
}
// Containers that are left end with the namespaces.
process.exit(0);
