import type { Stripe } from 'stripe';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import type { PaymentSettings } from '../../shared/payments/stripe-client.ts';
import type { Mailer } from '../../shared/mail/mailer.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';

/** What the comparison with the payment provider needs. */
export interface BillerPayments {
  stripe: Stripe;
  settings: Pick<PaymentSettings, 'mode'>;
  clock: Clock;
}

export interface BillerDeps {
  pool: Pool;
  /** Used only to read how far the topics are archived. */
  kafka: KafkaConnection;
  prefix: string;
  clickhouse: ClickHouseClient;
  mailer: Mailer;
  /** For links in mails, without a trailing slash. */
  dashboardUrl: string;
  metrics: Metrics;
  logger: Logger;
  /** Default: packs cannot be bought. */
  payments?: BillerPayments | undefined;
  /** Default: true. */
  hasSimulatedForum?: boolean;
  fatal: (error: Error) => void;
}
