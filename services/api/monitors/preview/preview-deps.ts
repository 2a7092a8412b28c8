import type { ClickHouseClient } from '../../../../shared/clickhouse/clickhouse-client.ts';
import type { Clock } from '../../../../shared/runtime/clock.ts';
import type { Logger } from '../../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../../shared/runtime/metrics.ts';
import type { AccountSlots } from '../../http/account-slots.ts';
import type { MonitorDeps } from '../monitor-deps.ts';
import type { StreamWords } from './stream-words.ts';

/** Collaborators of the routes that read the archive for a rule. */
export interface PreviewDeps extends MonitorDeps {
  clickhouse: ClickHouseClient;
  clock: Clock;
  logger: Logger;
  metrics: Pick<Metrics, 'previewSeconds'>;
  slots: AccountSlots;
  streamWords: StreamWords;
}
