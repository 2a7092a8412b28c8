import type { Caller } from '../../../services/api/admission/authentication.ts';
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { ApiError } from '../../../services/api/http/api-error.ts';
import { createMonitor } from '../../../services/api/monitors/create-monitor.ts';
import { deleteMonitor, pauseMonitor, resumeMonitor } from '../../../services/api/monitors/monitor-state.ts';
import { runRenewalPass } from '../../../services/biller/renewal-pass.ts';
import { createSecretBox } from '../../../shared/domain/secret-box.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { closeAccount } from '../../../shared/stores/accounts/close-account.ts';
import { freezeAccount, unfreezeAccount } from '../../../shared/stores/accounts/freeze-account.ts';
import { credit } from '../../../shared/stores/ledger/ledger.ts';
import type { MonitorSettings } from '../../../shared/stores/monitors/monitors.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';
import type { TestDatabase } from '../fixtures/test-database.ts';

/** Actions of a client, an operator, a biller or the clock. The numbers select existing accounts and monitors. */
export type Action =
  | { kind: 'create' | 'freeze' | 'unfreeze' | 'close'; account: number }
  | { kind: 'pause' | 'resume' | 'delete'; account: number; monitor: number }
  | { kind: 'grant'; account: number; credits: number }
  | { kind: 'renew'; batchSize: number }
  | { kind: 'wait'; hours: number };

const SECRET_BOX = createSecretBox('a secret key for tests, 32 characters');
const SETTINGS: MonitorSettings = {
  name: 'a monitor',
  keywords: ['rust'],
  exclude: [],
  subreddits: [],
  posts: true,
  comments: true,
  nsfw: false,
  refinements: null,
  threadOnce: false,
  spikeWebhook: false,
  digest: null,
  webhookUrl: null,
  webhookKind: null,
};

const account = fc.nat(1);
const monitor = fc.nat(5);

export const anyAction: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('renew' as const), batchSize: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('create' as const), account }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pause' as const), account, monitor }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('resume' as const), account, monitor }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), account, monitor }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('grant' as const), account, credits: fc.integer({ min: 1, max: 25 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('freeze', 'unfreeze', 'unfreeze', 'close'), account }) },
);

/** Performs actions on two accounts as the services do, any number of them concurrently. */
export class BillerActions {
  private readonly db: TestDatabase;
  private readonly accountIds: readonly string[];

  constructor(db: TestDatabase, accountIds: readonly string[]) {
    this.db = db;
    this.accountIds = accountIds;
  }

  /** A rejection is a valid result. Any other error is thrown. */
  async run(action: Action): Promise<void> {
    try {
      await this.perform(action);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  private async perform(action: Action): Promise<unknown> {
    const { pool } = this.db;
    if (action.kind === 'renew') return this.renew(action.batchSize);
    if (action.kind === 'wait') return this.moveClock(action.hours);
    const accountId = this.accountIds[action.account]!;
    switch (action.kind) {
      case 'create':
        return this.create(accountId);
      case 'grant':
        return credit(pool, { accountId, kind: 'grant', credits: action.credits, reference: randomReference() });
      case 'freeze':
        return freezeAccount(pool, accountId);
      case 'unfreeze':
        return unfreezeAccount(pool, accountId);
      case 'close':
        return closeAccount(pool, accountId, { mailboxHash: randomBytes(32) });
      case 'pause':
        return pauseMonitor(pool, accountId, await this.pick(accountId, action.monitor));
      case 'resume':
        return this.resume(accountId, await this.pick(accountId, action.monitor));
      case 'delete':
        return deleteMonitor(pool, accountId, await this.pick(accountId, action.monitor));
    }
  }

  renew(batchSize: number): Promise<number> {
    const { signal } = new AbortController();
    return runRenewalPass({ pool: this.db.pool, metrics: createMetrics(), logger: silentLogger(), signal, batchSize });
  }

  /** Advances the clock from its current time. Concurrent calls are safe, and the clock never goes back. */
  private moveClock(hours: number): Promise<unknown> {
    return this.db.pool.query('UPDATE service_clock SET shift = shift + make_interval(hours => $1)', [hours]);
  }

  private create(accountId: string): Promise<unknown> {
    return inTransaction(this.db.pool, (client) => createMonitor(client, SECRET_BOX, callOf(accountId), SETTINGS));
  }

  private resume(accountId: string, id: string): Promise<unknown> {
    return inTransaction(this.db.pool, (client) => resumeMonitor(client, callOf(accountId), id));
  }

  /** One of the account's monitors, including deleted ones, or an unknown id if it has none. */
  private async pick(accountId: string, draw: number): Promise<string> {
    const { rows } = await this.db.pool.query<{ id: string }>(
      'SELECT id FROM monitors WHERE account_id = $1 ORDER BY id',
      [accountId],
    );
    return rows.length === 0 ? 'mon_000000000000' : rows[draw % rows.length]!.id;
  }
}

function randomReference(): string {
  return randomBytes(8).toString('hex');
}

/** What creating and resuming need of a request. */
function callOf(accountId: string): { caller: Caller; requestId: string } {
  return { caller: { keyId: undefined, accountId, scopes: [], balance: 0, pack: 0 }, requestId: 'a request' };
}
