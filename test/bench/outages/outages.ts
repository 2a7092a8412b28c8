/**
 * `npm run --silent bench -- outages [--minutes N] [--engine kafka|postgres|clickhouse] [--kind away|slow|full]
 * [--rate N]`: a whole installation reads a simulated forum of `rate` items a second (150) for eight monitors with
 * webhooks, and customers read. Each engine in turn is cut off, answers 2 s late, or has a full disk, for N minutes
 * (10). Reported for each: what went on meanwhile, what readers were answered, the memory of the services, the time
 * until everything had caught up, and what was lost, recorded twice, numbered with holes, not delivered, not archived
 * or charged without an answer, compared with a naive search in what the simulator emitted; and the alerts of deploy/
 * that it raised, where a Prometheus is installed.
 */
import { parseArgs } from 'node:util';
import type { EngineName } from '../../../shared/outages/engine.ts';
import { KEYWORDS } from '../../support/oracles/expected-pairs.ts';
import { watchAlerts } from '../../support/outages/alert-watch.ts';
import { OutageTrial } from '../../support/outages/outage-trial.ts';
import type { OutageKind } from '../../support/outages/outage-trial.ts';
import type { Report } from '../main.ts';

const ENGINES: readonly EngineName[] = ['clickhouse', 'kafka', 'postgres'];
const KINDS: readonly OutageKind[] = ['away', 'slow', 'full'];

export default async function bench(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '10' },
      engine: { type: 'string' },
      kind: { type: 'string' },
      rate: { type: 'string', default: '150' },
    },
  });
  const engines = ENGINES.filter((engine) => values.engine === undefined || values.engine === engine);
  const kinds = KINDS.filter((kind) => values.kind === undefined || values.kind === kind);
  const disks = kinds.includes('full') ? engines : [];
  const trial = await OutageTrial.start({ rate: Number(values.rate), keywords: KEYWORDS, disks });
  const alerts = await watchAlerts(trial.metricsPort);
  if (alerts === undefined) report({ skipped: 'alerts: no prometheus is installed' });
  try {
    for (const engine of engines) {
      for (const kind of kinds) {
        if (kind === 'full' && !trial.canFill(engine))
          report({ engine, kind, skipped: 'mounting a tmpfs is not permitted' });
        else
          report(await trial.run({ engine, kind, seconds: Number(values.minutes) * 60, patienceMs: 900_000, alerts }));
      }
    }
  } finally {
    await alerts?.stop();
    await trial.stop();
  }
}
