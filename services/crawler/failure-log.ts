import { isClickhouseUnavailable } from '../../shared/clickhouse/clickhouse-unavailable.ts';
import { UpstreamError } from '../../shared/forum-client/upstream-error.ts';
import { isPostgresUnavailable } from '../../shared/postgres/postgres-unavailable.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { toError } from '../../shared/runtime/errors.ts';

/** How often failures are logged again while they last. */
const LOG_AGAIN_MS = 60_000;
/** Failures that follow each other within this time belong to one phase, whatever succeeds in between. */
const CALM_MS = 10_000;

export type FailureLines = Record<'warn' | 'info' | 'debug', (fields: object, text: string) => void>;

/** What is logged when a phase of failures begins, while it lasts, and when it ends. */
export interface FailureTexts {
  begins: string;
  lasts: string;
  ends: string;
}

/**
 * Logs the failures of many sources, which usually have one cause: a line when a phase of failures begins and for each
 * further kind of failure in it, one a minute while it lasts, and one with its duration when no source fails any more.
 */
export class FailureLog {
  private readonly texts: FailureTexts;
  private readonly logger: FailureLines;
  private readonly clock: Clock;
  private readonly failing = new Set<string>();
  /** Since the phase began; undefined: none. */
  private phase: { since: number; sources: Set<string>; kinds: Set<string> } | undefined;
  private failedAt = 0;
  private loggedAt = 0;

  constructor(texts: FailureTexts, { logger, clock }: { logger: FailureLines; clock: Clock }) {
    this.texts = texts;
    this.logger = logger;
    this.clock = clock;
  }

  /** Notes a failure of a source. `fields` are logged with it. */
  failed(source: string, error: unknown, fields: object = {}): void {
    const now = this.clock();
    const isFirst = this.phase === undefined;
    this.phase ??= { since: now, sources: new Set(), kinds: new Set() };
    const { kinds, sources, since } = this.phase;
    const { kind, detail } = describe(error);
    const isNew = !kinds.has(kind);
    kinds.add(kind);
    sources.add(source);
    this.failing.add(source);
    this.failedAt = now;
    const all = { source, ...detail, err: error, ...fields };
    if (isNew) this.logger.warn(all, this.texts.begins);
    else if (now - this.loggedAt >= LOG_AGAIN_MS) {
      const seconds = Math.round((now - since) / 1000);
      this.logger.warn({ ...all, sources: [...this.failing], seconds }, this.texts.lasts);
    } else this.logger.debug(all, this.texts.lasts);
    if (isFirst || isNew || now - this.loggedAt >= LOG_AGAIN_MS) this.loggedAt = now;
  }

  /** Call this after each success of a source, and when a source ends. */
  succeeded(source: string): void {
    if (this.phase === undefined) return;
    this.failing.delete(source);
    const now = this.clock();
    if (this.failing.size > 0 || now - this.failedAt < CALM_MS) return;
    const { since, sources } = this.phase;
    this.phase = undefined;
    this.logger.info({ sources: [...sources], seconds: Math.round((this.failedAt - since) / 1000) }, this.texts.ends);
  }
}

/** Failures of one kind have one text in the log; the forum's own words for it do not matter. */
function describe(error: unknown): { kind: string; detail: object } {
  if (!(error instanceof UpstreamError)) return { kind: toError(error).name, detail: {} };
  const { failure, status, reason } = error;
  return { kind: `${failure} ${status ?? ''}`, detail: { failure, status, reason } };
}

/** Whether the forum or an engine does not answer. Any other error ends the process. */
export function isExpectedFailure(error: unknown): boolean {
  return error instanceof UpstreamError || isPostgresUnavailable(error) || isClickhouseUnavailable(error);
}

const MIN_MS = 250;
const MAX_MS = 30_000;
const MAX_JITTERED_MS = 8_000;
/** While the forum refuses us, frequent retries cannot succeed and may prolong the block. */
const REFUSED_MIN_MS = 5_000;

/**
 * Returns the milliseconds to wait after a failure: a quarter of the time that the outage has lasted, at most 30 s. So
 * recovery is noticed after at most 1.25 times the length of the outage. The forum's Retry-After is a lower bound.
 * Jitter of up to a quarter, at most 2 s, is added and never subtracted. `random` is in [0, 1).
 */
export function backOffMs(error: unknown, failingForMs: number, random: number): number {
  const isRefused = error instanceof UpstreamError && error.failure === 'refused';
  const minimum = Math.max(
    isRefused ? REFUSED_MIN_MS : MIN_MS,
    error instanceof UpstreamError ? (error.retryAfterMs ?? 0) : 0,
  );
  const wait = Math.max(minimum, Math.min(MAX_MS, failingForMs / 4));
  return wait + (random * Math.min(MAX_JITTERED_MS, wait)) / 4;
}
