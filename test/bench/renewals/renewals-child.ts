/** A biller in a separate process: it renews until nothing is due and then ends. Its argument is the database's URL. */
import { runRenewalPass } from '../../../services/biller/renewal-pass.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

/** The time that the service waits when it has nothing to do. */
const IDLE_MS = 1_000;

const logger = silentLogger();
const pool = createPool({ url: process.argv[2]!, name: 'biller', logger });
const metrics = createMetrics();
const { signal } = new AbortController();
await pool.query('SELECT 1');
process.send!('ready');
await new Promise((resolve) => process.once('message', resolve));
let decided = 0;
for (;;) {
  const now = await runRenewalPass({ pool, metrics, logger, signal });
  decided += now;
  if (now > 0) continue;
  const { rowCount } = await pool.query(
    `SELECT FROM monitors WHERE status = 'active' AND next_charge_at <= (SELECT service_now()) LIMIT 1`,
  );
  if (rowCount === 0) break;
  await delay(IDLE_MS);
}
process.send!({ decided });
process.disconnect();
await pool.end();
