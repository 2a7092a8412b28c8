/**
 * What scripts/check-containers.sh runs beside Podman, in the namespaces that it made: `build` where the registry is
 * reached, then `run` where nothing is; and `kubernetes` beside a control plane.
 */
import { build } from './build.ts';
import { runKubernetes } from './kubernetes.ts';
import { runInstallation } from './run.ts';

const [stage] = process.argv.slice(2);
const SUMMARY = `
part of deploy/                 proven by
Dockerfile, .dockerignore       the image, built by Podman
healthcheck.mjs                 Podman's health checks of api and workers
compose.yaml                    podman-compose: networks, volumes, health, order, restarts, user, capabilities
compose/trial.env               the settings of the installation
backup/back-up.sh, restore.sh   a restoration into an empty server, with equal checksums
upgrade (README.md)             its commands, under load, without a failed request
proxy/nginx.conf                a proxy that clients of REST, MCP, streams and the dashboard come through
prometheus/, grafana/           its rules, and every query of the dashboards, in a running Prometheus
compose/managed.yaml            the services go on by it after the restoration
not run: Grafana itself, clickhouse/, a registry, a forum or mail outside

Replaced: Docker by Podman; the base image by Debian and Node's package; the images of Kafka (its jars) and PostgreSQL
(Debian's) by ones made here, and those of Prometheus and its exporter (Debian's), whose rule ProcessDown fires sooner;
ClickHouse by the embedded engine behind a proxy; lines of test/containers/override.yaml.`;
const KUBERNETES = `
part of deploy/                 proven by
kubernetes/base                 Kubernetes' API server (strict fields, the profile "restricted" of Pod Security),
                                scheduler and controllers: first start, drain, upgrade, the autoscalers' most pods
kubernetes/restore-finish       the commands of docs/operate/backup.md
kubernetes/three-brokers        the same, and the definitions that Strimzi's generator writes
their settings and probes       the services, started with them

Replaced: kubelets by kwok, which says of every pod that it runs; Strimzi's operator by a status and two secrets.
Not proven, for want of a part: how a kubelet runs, probes and ends pods, and mounts volumes (no container runtime for it);
that network policies are enforced (no network plugin); Strimzi's operator and its brokers (only an image); that
autoscalers read their metrics (no metrics server, no adapter); an ingress; a node that is lost.`;
if (stage === 'build') {
  await build();
} else if (stage === 'kubernetes') {
  await runKubernetes();
  console.log(KUBERNETES);
} else {
  await runInstallation();
  console.log(SUMMARY);
}
// Containers that are left end with the namespaces.
process.exit(0);
