import type { z } from 'zod';
import { diffAnswer, diffBody, previewAnswer, previewBody, previewProgress } from '../../../schemas/api/rules.ts';
import type { PreviewAnswer, PreviewProgress } from '../../../schemas/api/rules.ts';
import { takeUse } from '../../../shared/accounts/sliding-log-limits.ts';
import { listMutes, ruleOf } from '../../../shared/monitors/monitors.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Caller } from '../admission/caller.ts';
import { AccountSlots } from '../http/account-slots.ts';
import { ApiError, ClientDisconnected, invalidRequest, toApiError } from '../http/api-error.ts';
import { EVENT_STREAM, SSE_HEADERS, StreamedBody, streamOf } from '../http/response-stream.ts';
import type { ResponseStream } from '../http/response-stream.ts';
import { ok, route } from '../http/route.ts';
import type { Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { previewText } from '../mcp/tool-text.ts';
import { READS } from '../mcp/tool.ts';
import { exampleOf } from '../openapi/json-schemas.ts';
import { settingsAfter } from './change-monitor.ts';
import { unsavedRule } from './check-settings.ts';
import { findMonitor, MONITOR_ID } from './find-monitor.ts';
import { diffMonitor, previewMonitor } from './preview-monitor.ts';
import type { PreviewDeps, PreviewRequest } from './preview-monitor.ts';

/** Scans of the archive at once in this process; each keeps a session of the engine busy. */
const SLOTS = {
  atOnce: 2,
  busy: 'Another preview is already running for this account. Wait for it to finish.',
  full: 'Too many previews are running. Try again shortly. This one was not charged or counted.',
  retryAfter: 5,
};
/**
 * Previews and comparisons of an account together: enough to try rules. Samples have texts, which cost credits
 * elsewhere.
 */
const BY_KEY = { names: ['preview', 'previews'], perMinute: 10, perDay: 500 };
/** Of the dashboard, which asks while a rule is typed, and shows short pieces of the texts. They use up no others. */
const BY_SESSION = { names: ['typed-preview', 'typed-previews'], perMinute: 30, perDay: 1_000 };
const DAY = 86_400;
/** How long a preview of the dashboard waits for a slot: the one before it, of the rule as it was, is ending. */
const SLOT_WAIT_MS = 10_000;
/**
 * How long the archive is read for the counts of a response, and of a stream. The words of the suggestions take 2 s at
 * most, so that a response takes 10 s.
 */
const ANSWER_BUDGET_MS = 8_000;
const STREAM_BUDGET_MS = 60_000;
/** Of a stream of the dashboard. Whoever types a rule often leaves it there, with a slot taken. */
const TYPED_BUDGET_MS = 20_000;

const LIMITS =
  'Free. Limits: ten a minute, 500 in 24 hours and one at a time per account (then `rate_limited`), and two at a time per process (then `service_unavailable`), both with `Retry-After`. Stores nothing.';

/** What a rule would have found, and what a change of it would have changed. Free. */
export function previewRoutes(options: Omit<PreviewDeps, 'slots'>): Route[] {
  const deps = { ...options, slots: new AccountSlots(SLOTS) };
  const events = eventText('progress', exampleOf(previewProgress)) + eventText('result', exampleOf(previewAnswer));
  return [
    route({
      method: 'post',
      path: '/v1/monitors/preview',
      scope: 'monitors:write',
      operationId: 'previewMonitor',
      tag: 'Monitors',
      summary: 'Preview what a monitor would have found',
      description: `The exact matches of a rule that is not stored, over the last days of the archive: counts, the newest 20 with the positions of their terms, the days on which the plan's daily cap would have been exceeded, the cost of 30 days, warnings and suggestions. The same function decides as for live matching. The archive is read newest first for at most 10 s: \`exact_from\` says how far back the counts are complete. With \`Accept: text/event-stream\`, it is read for a minute: \`event: progress\` comes after each part, and \`event: result\` or \`event: error\` comes last. ${LIMITS}`,
      body: { schema: previewBody },
      responses: [
        {
          status: 200,
          description: 'What it would have found.',
          content: [
            { schema: previewAnswer },
            { type: 'text/event-stream', schema: { type: 'string' }, examples: { events } },
          ],
        },
      ],
      errors: ['service_unavailable'],
      tool: {
        name: 'preview_monitor',
        title: 'Preview what a monitor would have found',
        description:
          'Counts the exact matches that a rule would have had over the last days, with the newest ones, its cost, warnings and suggestions. Use it before create_monitor. Stores nothing. Free, at most ten a minute.',
        annotations: READS,
        toText: previewText,
      },
      handle: (request) => preview(deps, request),
    }),
    route({
      method: 'post',
      path: '/v1/monitors/:id/diff',
      scope: 'monitors:write',
      operationId: 'diffMonitor',
      tag: 'Monitors',
      summary: 'Preview what a change to a monitor would gain and lose',
      description: `Compares the current rule of the monitor with the changed rule, over the last days of the archive. Muted items count neither as gained nor as lost. \`exact_from\` says how far back the comparison is complete, as for a preview. ${LIMITS}`,
      params: { id: MONITOR_ID },
      body: { schema: diffBody },
      responses: [ok('The differences.', diffAnswer)],
      errors: ['service_unavailable'],
      handle: (request) => diff(deps, request),
    }),
  ];
}

async function preview(
  deps: PreviewDeps,
  { caller, body, type, signal }: RouteRequest<unknown, z.output<typeof previewBody>>,
): Promise<RouteResponse> {
  const { settings, days } = body;
  const request: Omit<PreviewRequest, 'disconnected' | 'budgetMs'> = {
    rule: unsavedRule(settings),
    threadOnce: settings.thread_once ?? false,
    days,
    pack: caller.pack,
  };
  if (type === EVENT_STREAM) {
    return {
      status: 200,
      headers: SSE_HEADERS,
      body: new StreamedBody(async () => {
        const release = await admit(deps, caller, signal);
        const budgetMs = caller.sessionId === undefined ? STREAM_BUDGET_MS : TYPED_BUDGET_MS;
        const run = (disconnected: AbortSignal) => previewMonitor(deps, { ...request, disconnected, budgetMs });
        return previewStream({ run, release, logger: deps.logger, baseUrl: deps.baseUrl });
      }),
    };
  }
  const release = await admit(deps, caller, signal);
  try {
    const run = previewMonitor(deps, { ...request, disconnected: signal, budgetMs: ANSWER_BUDGET_MS });
    let step = await run.next();
    while (!step.done) step = await run.next();
    return { status: 200, body: step.value };
  } finally {
    release();
  }
}

async function diff(
  deps: PreviewDeps,
  { caller, id, body, signal }: RouteRequest<unknown, z.output<typeof diffBody>>,
): Promise<RouteResponse> {
  const { changes, days } = body;
  const monitor = await findMonitor(deps.pool, caller.accountId, id);
  const after = ruleOf(belowChanges(() => settingsAfter(monitor, changes)));
  const mutes = await listMutes(deps.pool, id);
  const release = await admit(deps, caller, signal);
  try {
    const rules = { before: ruleOf(monitor), after, mutes };
    return {
      status: 200,
      body: await diffMonitor(deps, { ...rules, days, disconnected: signal, budgetMs: ANSWER_BUDGET_MS }),
    };
  } finally {
    release();
  }
}

/** Names the fields of a refusal as the body has them, below `changes`. */
function belowChanges<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.faults.length === 0) throw error;
    throw invalidRequest(error.faults.map(({ field, message }) => ({ field: `changes.${field}`, message })));
  }
}

/**
 * Takes a slot and one use of the account's limit. The returned function releases the slot.
 *
 * @throws ApiError service_unavailable, rate_limited; ClientDisconnected
 */
async function admit(
  { pool, slots }: PreviewDeps,
  { accountId, sessionId }: Caller,
  signal: AbortSignal | undefined,
): Promise<() => void> {
  const { names, perMinute, perDay } = sessionId === undefined ? BY_KEY : BY_SESSION;
  const release =
    sessionId === undefined ? slots.take(accountId) : await slots.takeWithin(SLOT_WAIT_MS, accountId, signal);
  try {
    const [ofMinute, ofDay] = names.map((name) => `${name}:${accountId}`);
    const minute = await takeUse(pool, { name: ofMinute!, maxUses: perMinute, seconds: 60 });
    const day = minute > 0 ? 0 : await takeUse(pool, { name: ofDay!, maxUses: perDay, seconds: DAY });
    const retryAfter = Math.max(minute, day);
    if (retryAfter === 0) return release;
    const message = `Too many previews: the limits are ${perMinute} a minute and ${perDay.toLocaleString('en')} in 24 hours.`;
    throw new ApiError('rate_limited', message, { retryAfter });
  } catch (error) {
    release();
    throw error;
  }
}

interface PreviewStreamOptions {
  /** Starts the preview. The signal aborts when the stream has ended. */
  run: (disconnected: AbortSignal) => AsyncGenerator<PreviewProgress, PreviewAnswer>;
  /** Releases the slot; calling it again has no effect. */
  release: () => void;
  logger: Logger;
  baseUrl: string;
}

const STALL_MS = 30_000;

/**
 * A preview as server-sent events: `progress` after each page of the archive, at last `result`, or `error` with the
 * envelope of errors. The slot is free before the result is sent, so that a client that reads slowly keeps none.
 */
function previewStream(options: PreviewStreamOptions): ResponseStream {
  return streamOf((disconnected) => pieces(options, disconnected), { stallMs: STALL_MS, release: options.release });
}

/** Never throws: an unexpected error is logged and sent as internal_error. */
async function* pieces(
  { run, release, logger, baseUrl }: PreviewStreamOptions,
  disconnected: AbortSignal,
): AsyncGenerator<string> {
  // Shows proxies and clients at once that it is open.
  yield ': the archive is being read\n\n';
  try {
    const running = run(disconnected);
    let step = await running.next();
    while (!step.done) {
      yield eventText('progress', step.value);
      step = await running.next();
    }
    release();
    yield eventText('result', step.value);
  } catch (error) {
    release();
    if (error instanceof ClientDisconnected) return;
    const known = toApiError(error);
    if (known === undefined) logger.error({ err: error }, 'a streamed preview failed');
    const refusal = known ?? new ApiError('internal_error', 'Something went wrong on our side.');
    yield eventText('error', refusal.envelope(baseUrl));
  }
}

/** JSON has no line breaks, so `data` is one line. */
function eventText(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
