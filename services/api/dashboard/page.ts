import { createHash } from 'node:crypto';
import { randomText } from '../../../shared/rules/identifiers.ts';
import type { HtmlValue, Html } from '../../../shared/http/html.ts';
import type { StoredAccount } from '../../../shared/accounts/accounts.ts';
import type { StoredDashboardSession } from '../../../shared/accounts/dashboard-sessions.ts';
import type { Caller } from '../admission/caller.ts';
import { StreamedBody, streamOf } from '../http/response-stream.ts';
import { ApiError } from '../http/api-error.ts';
import { faultSentence } from './fault-sentences.ts';
import type { RouteResponse, Route } from '../http/route.ts';

export interface PageRoute {
  method: 'get' | 'post';
  /** Below /dashboard: `/monitors/:id`. */
  path: string;
  /** Default: its requests count among the pages of the session. */
  ownLimit?: { name: string; perMinute: number; what: string };
  handle(request: PageRequest): PageResponse | Promise<PageResponse>;
}

export const get = (path: string, handle: PageRoute['handle']): PageRoute => ({ method: 'get', path, handle });
export const post = (path: string, handle: PageRoute['handle']): PageRoute => ({ method: 'post', path, handle });

/** A form that runs a route of the API and redirects. `:id` in the redirect is that of the page. */
export const action = (path: string, method: Route['method'], route: string, redirect: string): PageRoute =>
  post(path, async (request) => {
    await request.call(method, route, { partId: request.params.part ?? '' });
    return { redirect: redirect.replace(':id', request.id) };
  });

/** A request of a signed-in person. Its values are not validated yet. */
export interface PageRequest {
  account: StoredAccount;
  session: StoredDashboardSession;
  /** The person as a caller of the API's routes, with every permission. */
  caller: Caller;
  clientAddress: string | undefined;
  /** The host and port of the request, as the browser sent them. */
  host: string;
  /** When it arrived, in milliseconds since 1970. */
  now: number;
  params: Readonly<Record<string, string>>;
  id: string;
  query: FormFields;
  form: FormFields;
  csrfField: Html;
  /** `/keys` → the path from the origin, with the prefix of the dashboard's address. */
  path: (below: string) => string;
  lastEventId: string | undefined;
  /** Calls a route as this person: checks, charges and errors are the API's. @throws ApiError as the route does */
  call: (method: Route['method'], path: string, request?: ApiRequest) => Promise<RouteResponse>;
  read: (path: string, request?: ApiRequest) => Promise<object>;
}

export interface ApiRequest {
  /** Default: that of the page. */
  id?: string;
  partId?: string;
  query?: Record<string, string>;
  body?: object;
  idempotencyKey?: string;
  /** Default: the first of the route. */
  type?: string;
}

export type PageResponse =
  | ShownPage
  /** A path below /dashboard (`/keys?done=revoked`), or the whole address of another site. */
  | { redirect: string }
  | { headers: Record<string, string>; body: Uint8Array | StreamedBody };

export interface ShownPage {
  title: string;
  /** In place of the title as a heading, for instance with a button beside it. Holds the page's `h1`. */
  heading?: HtmlValue;
  content: HtmlValue;
  status?: number;
  /** The session has ended: its cookie is removed, and the page is shown without it. */
  signedOut?: true;
}

/** Longer values are cut. Routes have lower limits. */
const MAX_LENGTH = 100_000;

/** The fields of a form or a query: text, once or several times. Other values are ignored. */
export class FormFields {
  private readonly values: ReadonlyMap<string, readonly string[]>;

  /** @param given as Express parses it: names with a text or a list of texts */
  constructor(given: unknown) {
    this.values = new Map(Object.entries(given ?? {}).map(([name, value]) => [name, textsOf(value)]));
  }

  /** Without spaces around it; empty when the field is absent. */
  text(name: string): string {
    return (this.values.get(name)?.[0] ?? '').trim();
  }

  all(name: string): string[] {
    return (this.values.get(name) ?? []).map((value) => value.trim()).filter((value) => value !== '');
  }

  has(name: string): boolean {
    return this.values.has(name);
  }

  given(names: readonly string[]): Record<string, string> {
    return Object.fromEntries(
      names.map((name) => [name, this.text(name)] as const).filter(([, value]) => value !== ''),
    );
  }

  /** A code of six digits, as people type it. */
  code(name: string): string {
    return this.text(name).replace(/[\s-]/g, '').slice(0, 100);
  }
}

function textsOf(value: unknown): string[] {
  const texts = Array.isArray(value) ? (value as unknown[]) : [value];
  return texts.filter((text): text is string => typeof text === 'string').map((text) => text.slice(0, MAX_LENGTH));
}

/** What is wrong with each field of a form, by the field's name in the API; `''`: with the request as a whole. */
export type FieldProblems = ReadonlyMap<string, string>;

export const NO_PROBLEMS: FieldProblems = new Map();

/** What a form shows when the API refused it; `keywords[2]` counts for `keywords`. @throws what cannot be corrected */
export function problemsOf(error: unknown): FieldProblems {
  if (!(error instanceof ApiError) || error.status >= 500 || error.status === 404) throw error;
  if (error.faults.length === 0) return new Map([['', error.message]]);
  return joinedProblems(
    error.faults.map(({ field, message }) => {
      const name = /^[a-z_]+/.exec(field)?.[0] ?? '';
      return [name, faultSentence(name, message, name === field ? undefined : field)];
    }),
  );
}

/** The value of `work`, or what is wrong with the request. @throws as `problemsOf` */
export async function attempt<T>(work: Promise<T>): Promise<{ value?: T; problems: FieldProblems }> {
  try {
    return { value: await work, problems: NO_PROBLEMS };
  } catch (error) {
    return { problems: problemsOf(error) };
  }
}

export function joinedProblems(problems: readonly (readonly [field: string, message: string])[]): FieldProblems {
  const byField = Map.groupBy(problems, ([field]) => field);
  return new Map([...byField].map(([field, all]) => [field, all.map(([, message]) => message).join(' ')]));
}

const FORM_KEY_LENGTH = 20;
const FORM_KEY = /^[0-9a-z]{20}$/;

/** A random value for the field `once` of an idempotent form. */
export function newFormKey(): string {
  return randomText(FORM_KEY_LENGTH);
}

/** The key of an idempotent form: sent twice, it takes effect once. A form that was changed in between has another. */
export function idempotencyKeyOf(form: FormFields, body: object): Pick<ApiRequest, 'idempotencyKey'> {
  const formKey = form.text('once');
  if (!FORM_KEY.test(formKey)) return {};
  const digest = createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 16);
  return { idempotencyKey: `dashboard-${formKey}-${digest}` };
}

/** Streams what a generator yields, until the client disconnects or reads nothing for `stallMs` milliseconds. */
export function streamed(pieces: (ended: AbortSignal) => AsyncIterable<string>, stallMs: number): StreamedBody {
  return new StreamedBody(() => Promise.resolve(streamOf(pieces, { stallMs })));
}

export function file(type: string, name: string, body: Uint8Array | StreamedBody): PageResponse {
  return { headers: { 'Content-Type': type, 'Content-Disposition': `attachment; filename="${name}"` }, body };
}
