import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { freePort } from '../fixtures/free-port.ts';

const RULES = fileURLToPath(new URL('../../../deploy/prometheus/alerts.yaml', import.meta.url));
const alertsResponse = z.object({
  data: z.object({ alerts: z.array(z.object({ labels: z.object({ alertname: z.string() }), state: z.string() })) }),
});

/** A Prometheus with the alert rules of deploy/, which watches an installation. */
export interface AlertWatch {
  /** The names of alerts that fire now, and of those whose time has not passed yet; each once, in order. */
  alerts(): Promise<{ firing: string[]; pending: string[] }>;
  stop(): Promise<void>;
}

/** @returns undefined where no `prometheus` is installed (Debian's package of that name) */
export async function watchAlerts(metricsPort: string): Promise<AlertWatch | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'forum-test-prometheus-'));
  const configuration = join(folder, 'prometheus.yaml');
  writeFileSync(
    configuration,
    `global: { scrape_interval: 5s, evaluation_interval: 5s }
rule_files: [${RULES}]
scrape_configs:
  - { job_name: forum-monitor, static_configs: [{ targets: ['127.0.0.1:${metricsPort}'] }] }
`,
  );
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${configuration}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  const isStarted = await Promise.race([
    once(child, 'spawn').then(() => true),
    once(child, 'error').then(() => false),
  ]).catch(() => false);
  if (!isStarted) {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
  return {
    async alerts() {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`);
      const { data } = alertsResponse.parse(await response.json());
      const namesOf = (state: string): string[] => {
        const names = data.alerts.filter((alert) => alert.state === state).map(({ labels }) => labels.alertname);
        return [...new Set(names)].sort();
      };
      return { firing: namesOf('firing'), pending: namesOf('pending') };
    },
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
