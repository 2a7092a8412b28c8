import type { Queryable } from '../../shared/postgres/pool.ts';
import { countSynchronousStandbys } from '../../shared/postgres/postgres-servers.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import {
  countInstallation,
  lastLedgerEntry,
  readOldestSnapshot,
  sumMovedCredits,
  countWaitingWork,
} from '../../shared/maintenance/installation-counts.ts';
import { readLedgerMismatches } from '../../shared/maintenance/settings.ts';
import { countLostRecords } from '../../shared/crawl/lost-records.ts';

/**
 * Exports what an operator watches of the whole installation. One process at a time reports, so that sums over all
 * processes are right.
 */
export class InstallationReport {
  private readonly metrics: Metrics;
  /** The last row of the ledger that is counted; undefined until this process reports. */
  private countedEntry: number | undefined;

  constructor(metrics: Metrics) {
    this.metrics = metrics;
  }

  async update(db: Queryable): Promise<void> {
    const { metrics } = this;
    const counts = await countInstallation(db);
    metrics.deliveriesPending.set(counts.pendingDeliveries);
    metrics.deliveriesOldestPending.set(Math.max(0, counts.oldestPendingMs ?? 0) / 1_000);
    metrics.deliveriesOverdue.set(Math.max(0, counts.longestOverdueMs ?? 0) / 1_000);
    metrics.monitorsFailing.set(counts.failingMonitors);
    for (const status of ['active', 'paused', 'paused_balance']) {
      metrics.monitors.set({ status }, counts.monitors[status] ?? 0);
    }
    const { backfills, digests, digestMails, events } = await countWaitingWork(db);
    for (const phase of ['waiting', 'working', 'cancelling'] as const) {
      metrics.backfills.set({ phase }, backfills[phase]);
    }
    metrics.backfillsOldest.set(backfills.oldestSeconds);
    metrics.digestsDue.set(digests.due);
    metrics.digestsOldestDue.set(digests.oldestSeconds);
    metrics.digestMailsWaiting.set(digestMails);
    metrics.monitorEventsPending.set(events.pending);
    metrics.monitorEventsOldestPending.set(events.oldestSeconds);
    const standbys = await countSynchronousStandbys(db);
    if (standbys === undefined) metrics.synchronousStandbys.remove();
    else metrics.synchronousStandbys.set(standbys);
    metrics.postgresOldestSnapshot.set(await readOldestSnapshot(db));
    // Whichever process made the last check, and however long ago this one was started.
    metrics.ledgerMismatches.set((await readLedgerMismatches(db)) ?? 0);
    metrics.kafkaLostRecords.reset();
    for (const { group, topic, records } of await countLostRecords(db)) {
      metrics.kafkaLostRecords.set({ group, topic }, records);
    }
    if (this.countedEntry === undefined) {
      this.countedEntry = await lastLedgerEntry(db);
      return;
    }
    const { moved, lastId } = await sumMovedCredits(db, this.countedEntry);
    this.countedEntry = lastId;
    for (const { kind, granted, charged } of moved) {
      if (granted > 0) metrics.creditsGranted.inc({ kind }, granted);
      if (charged > 0) metrics.creditsCharged.inc({ kind }, charged);
    }
  }

  /** Another process reports from now on. The counters stay: they only ever grow. */
  withdraw(): void {
    const { metrics } = this;
    this.countedEntry = undefined;
    for (const gauge of [
      metrics.deliveriesPending,
      metrics.deliveriesOldestPending,
      metrics.deliveriesOverdue,
      metrics.monitorsFailing,
      metrics.backfillsOldest,
      metrics.digestsDue,
      metrics.digestsOldestDue,
      metrics.digestMailsWaiting,
      metrics.monitorEventsPending,
      metrics.monitorEventsOldestPending,
      metrics.ledgerMismatches,
      metrics.synchronousStandbys,
      metrics.postgresOldestSnapshot,
    ]) {
      gauge.remove();
    }
    metrics.monitors.reset();
    metrics.backfills.reset();
    metrics.kafkaLostRecords.reset();
  }
}
