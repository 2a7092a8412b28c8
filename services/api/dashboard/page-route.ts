import type { StoredAccount } from '../../../shared/stores/accounts/accounts.ts';
import type { StoredDashboardSession } from '../../../shared/stores/dashboard/dashboard-sessions.ts';
import type { Caller } from '../admission/authentication.ts';
import type { StreamedBody } from '../http/answer-stream.ts';
import type { Html, HtmlValue } from '../../../shared/html/html.ts';
import type { FormFields } from './form-fields.ts';

/** One page or action of the dashboard, as data. */
export interface PageRoute {
  method: 'get' | 'post';
  /** Below /dashboard: `/monitors/:id`. */
  path: string;
  handle(visit: Visit): Promise<PageAnswer>;
}

/** A request of a signed-in person. Its values are not validated yet. */
export interface Visit {
  account: StoredAccount;
  session: StoredDashboardSession;
  /** The person as a caller of the API's routes, with every permission. */
  caller: Caller;
  /** As in X-Request-Id and in the logs. */
  requestId: string;
  clientAddress: string | undefined;
  /** The host that the browser asked for, with its port. It comes from the browser. */
  host: string;
  /** From the path. */
  params: Readonly<Record<string, string>>;
  query: FormFields;
  /** Empty for GET. */
  form: FormFields;
  /** The hidden field that every form needs. */
  csrfField: Html;
  /** `/keys` → the path from the origin, with the prefix of the dashboard's address. */
  path: (below: string) => string;
  /** Of an event stream that reconnects. */
  lastEventId: string | undefined;
  /** Aborted with ClientGone when the browser disconnects. */
  signal: AbortSignal;
  /** Call before something is charged. @throws ClientGone when the browser has disconnected */
  refuseAbandoned: () => void;
}

export type PageAnswer =
  | ShownPage
  /** A path below /dashboard (`/keys?done=revoked`), or the whole address of another site. */
  | { redirect: string }
  /** Downloads and event streams. */
  | { headers: Record<string, string>; body: Uint8Array | StreamedBody }
  /** The session is over: the cookie is removed, and the page is shown without it. */
  | (ShownPage & { signedOut: true });

/** A page in the layout. */
export interface ShownPage {
  title: string;
  content: HtmlValue;
  /** 200 when absent. */
  status?: number;
}
