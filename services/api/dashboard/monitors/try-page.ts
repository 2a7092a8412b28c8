import { unsavedSettings } from '../../../../schemas/api/monitors.ts';
import type { PreviewAnswer, PreviewProgress } from '../../../../schemas/api/rules.ts';
import type { ErrorEnvelope } from '../../../../schemas/api/common.ts';
import { AccountSlots } from '../../http/account-slots.ts';
import { ClientDisconnected, parseRequest, toApiError } from '../../http/api-error.ts';
import { EVENT_STREAM, SSE_HEADERS, StreamedBody, streamOf } from '../../http/response-stream.ts';
import type { ResponseStream } from '../../http/response-stream.ts';
import { unsavedRule } from '../../monitors/check-settings.ts';
import { ruleWarnings } from '../../monitors/rule-warnings.ts';
import { post } from '../page.ts';
import type { PageRequest, PageResponse, PageRoute } from '../page.ts';
import { monitorProblems, ruleOfValues, valuesOfForm } from './monitor-form-values.ts';
import type { MonitorFormValues } from './monitor-form-values.ts';
import { ruleInWords, ruleOf } from './monitor-frame.ts';
import { trialParts } from './try-panel.ts';
import type { Trial } from './try-panel.ts';

export const TRY_PATH = '/monitors/try';
/** The script of a form asks half a second after the last key, so no window of a browser reaches this. */
const OWN_LIMIT = { name: 'dashboard-try', perMinute: 120, what: 'changes of a rule' };
/** Of an account: two windows, each with a stream that is ending. One reads the archive, and the others wait. */
const STREAMS = {
  perAccount: 4,
  busy: 'Rules are being tried in too many windows. The form still works.',
  retryAfter: 5,
};
const STALL_MS = 30_000;

/** What a rule that is being typed finds: events with the parts of the panel, each more complete than the last. */
export function tryPages(): PageRoute[] {
  const slots = new AccountSlots(STREAMS);
  return [{ ...post(TRY_PATH, (request) => tryEvents(slots, request)), ownLimit: OWN_LIMIT }];
}

function tryEvents(slots: AccountSlots, request: PageRequest): PageResponse {
  const release = slots.take(request.account.id);
  const pieces = (ended: AbortSignal) => events(request, ended);
  return {
    headers: SSE_HEADERS,
    body: new StreamedBody(() => Promise.resolve(streamOf(pieces, { stallMs: STALL_MS, release }))),
  };
}

async function* events(request: PageRequest, ended: AbortSignal): AsyncGenerator<string> {
  for await (const trial of trials(request, ended)) {
    const { problems = [], refusal, progress } = trial;
    const markup = String(trialParts(request, { ...trial, hasMutes: request.query.has('mutes') }));
    const data = {
      markup,
      problems: Object.fromEntries(problems),
      again: refusal?.again,
      isLast: progress === undefined,
    };
    yield `event: panel\ndata: ${JSON.stringify(data)}\n\n`;
  }
}

/** Ends with the preview, or with why there is none. */
async function* trials(request: PageRequest, ended: AbortSignal): AsyncGenerator<Trial> {
  const values = valuesOfForm(request.form);
  const explained = values.keywords === '' && values.terms === '' ? {} : explainedRule(values);
  if (explained.words === undefined) {
    yield explained;
    return;
  }
  yield { ...explained, progress: 'started' };
  let stream: ResponseStream | undefined;
  const end = () => stream?.end();
  ended.addEventListener('abort', end);
  try {
    const wanted = { body: { settings: ruleOfValues(values) }, type: EVENT_STREAM };
    const { body } = await request.call('post', '/v1/monitors/preview', wanted);
    stream = await (body as StreamedBody).open();
    if (ended.aborted) stream.end();
    for await (const piece of stream.pieces()) {
      const trial = trialOfEvent(String(piece));
      if (trial !== undefined) yield { ...explained, ...trial };
    }
  } catch (error) {
    if (ended.aborted || error instanceof ClientDisconnected) return;
    yield { ...explained, ...trialOfError(error, values) };
  } finally {
    ended.removeEventListener('abort', end);
    end();
    await stream?.close();
  }
}

/** An event of the API's preview. Comments are none. */
function trialOfEvent(piece: string): Trial | undefined {
  const [, event, json] = /^event: (\w+)\ndata: (.+)\n\n$/.exec(piece) ?? [];
  const data: unknown = json === undefined ? undefined : JSON.parse(json);
  switch (event) {
    case 'progress':
      return { progress: data as PreviewProgress };
    case 'result':
      return { preview: data as PreviewAnswer };
    case 'error': {
      const { retry_after: retryAfter, ...error } = (data as ErrorEnvelope).error;
      return { refusal: refusalOf({ ...error, retryAfter }) };
    }
    default:
      return undefined;
  }
}

/** The rule in words, with warnings that need no archive; or what is wrong with it. */
export function explainedRule(values: MonitorFormValues): Trial {
  try {
    const settings = ruleOfValues(values);
    const rule = unsavedRule(parseRequest(unsavedSettings, settings, 'settings'));
    const warnings = ruleWarnings(rule, { sample: [], suppressedPerDay: 0 });
    // Only the archive says which words are common here.
    return { words: ruleInWords(ruleOf(settings)), warnings: warnings.filter(({ code }) => code !== 'common_word') };
  } catch (error) {
    return { problems: monitorProblems(error, values) };
  }
}

/** A rule that is tried once, for a page. */
export async function triedRule(request: PageRequest, values: MonitorFormValues): Promise<Trial> {
  const explained = explainedRule(values);
  if (explained.problems !== undefined) return explained;
  try {
    const { body } = await request.call('post', '/v1/monitors/preview', { body: { settings: ruleOfValues(values) } });
    return { ...explained, preview: body as PreviewAnswer };
  } catch (error) {
    return { ...explained, ...trialOfError(error, values) };
  }
}

/** The form stays as it was typed when other previews are under way, or the archive is unavailable. */
function trialOfError(error: unknown, values: MonitorFormValues): Trial {
  const known = toApiError(error);
  if (known === undefined) throw error;
  if (known.faults.length > 0) return { words: [], problems: monitorProblems(known, values) };
  return { refusal: refusalOf(known) };
}

const LONGEST_WAIT_S = 60;

function refusalOf({ code, message, retryAfter }: Refused): NonNullable<Trial['refusal']> {
  const isSoon = retryAfter !== undefined && retryAfter <= LONGEST_WAIT_S;
  // Here nothing else is affected.
  const words = code === 'internal_error' ? NO_ARCHIVE : message;
  return { message: words, ...(isSoon && { again: retryAfter }) };
}

type Refused = Pick<ErrorEnvelope['error'], 'code' | 'message'> & { retryAfter?: number | undefined };
const NO_ARCHIVE = 'The archive does not respond, so there are no counts now. You can save the form.';
