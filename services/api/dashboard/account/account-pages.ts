import { NOTICE_KINDS } from '../../../../shared/domain/notice-kinds.ts';
import type { NoticeKind } from '../../../../shared/domain/notice-kinds.ts';
import { takeUse } from '../../../../shared/stores/accounts/sliding-log-limits.ts';
import {
  endDashboardSession,
  endOtherDashboardSessions,
  listDashboardSessions,
} from '../../../../shared/stores/dashboard/dashboard-sessions.ts';
import { readSwitchedOff, switchOffNotices } from '../../../../shared/stores/notices/notice-settings.ts';
import { StreamedBody } from '../../http/answer-stream.ts';
import { ApiError } from '../../http/api-error.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';
import { problemsOf } from '../call-api.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageAnswer, PageRoute, ShownPage, Visit } from '../page-route.ts';
import { doneNotice } from '../parts/done-notice.ts';
import { checkbox, field, fieldset } from '../parts/field.ts';
import { signedOutPage } from '../sign-in/sign-in-pages.ts';
import { openAccountExport } from './account-export.ts';
import { addressPages } from './address-pages.ts';
import { sessionList } from './session-list.ts';

const DONE = new Map([
  ['notices', 'Your choice of mails was saved.'],
  ['address', 'The address was changed. Both addresses are told.'],
  ['ended', 'The session was ended.'],
  ['others', 'All other sessions were ended.'],
]);

const NOTICE_WORDS: Readonly<Record<NoticeKind, string>> = {
  low_balance: 'The credits will last less than three days',
  monitor_paused: 'A monitor was paused because the credits ran out',
  webhook_failing: 'A webhook fails: after 10 and at 50 failed deliveries in a row',
  webhook_recovered: 'A webhook that failed works again',
};

const HOUR = 3_600;
const EXPORTS_PER_HOUR = 10;
const SESSION_ID = /^ses_[0-9a-z]{12}$/;

/** The page of the account itself: mails, address, sessions, export, deletion. */
export function accountPages(deps: DashboardDeps): PageRoute[] {
  const on = (handle: (deps: DashboardDeps, visit: Visit) => Promise<PageAnswer>) => (visit: Visit) =>
    handle(deps, visit);
  return [
    { method: 'get', path: '/account', handle: on(accountPage) },
    { method: 'post', path: '/account/notices', handle: on(storeNotices) },
    { method: 'post', path: '/account/sessions/end-others', handle: on(endOthers) },
    { method: 'post', path: '/account/sessions/:id/end', handle: on(endSession) },
    { method: 'get', path: '/account/export', handle: on(download) },
    { method: 'post', path: '/account/delete', handle: on(remove) },
    ...addressPages(deps),
  ];
}

/** @param deletion what the person typed to delete the account, and what is wrong with it */
async function accountPage(
  { pool, clock }: DashboardDeps,
  visit: Visit,
  deletion?: { email: string; problem: string | undefined },
): Promise<ShownPage> {
  const { account } = visit;
  const [switchedOff, sessions] = await Promise.all([
    readSwitchedOff(pool, account.id),
    listDashboardSessions(pool, account.id),
  ]);
  return {
    title: 'Account',
    status: deletion === undefined ? 200 : 400,
    content: html`${doneNotice(visit, DONE)}
      <h2>Address</h2>
      <p>Codes and mails go to <strong>${account.email}</strong>.</p>
      <p><a class="button quiet" href="${visit.path('/account/address?again=1')}">Change the address</a></p>
      <h2>Mails</h2>
      ${noticeForm(visit, switchedOff)}
      <h2>Sessions</h2>
      ${sessionList(visit, sessions, clock())}
      <h2>Your data</h2>
      <p>
        One file with everything that is stored of this account: keys and webhooks without their secrets, monitors,
        mutes, matches, deliveries, ledger, payments, sessions and programs. Each line is a JSON object with a
        <code>type</code>, in the form that the API documents; a complete file ends with a line of the type
        <code>end</code>.
      </p>
      <p><a class="button quiet" href="${visit.path('/account/export')}" download>Download all data</a></p>
      <h2>Delete the account</h2>
      ${deletionForm(visit, deletion)}`,
  };
}

function noticeForm(visit: Visit, switchedOff: readonly NoticeKind[]): Html {
  return html`<form method="post" action="${visit.path('/account/notices')}" class="narrow">
    ${visit.csrfField}
    ${fieldset(
      'Mail me, at most once a day each, when',
      NOTICE_KINDS.map((kind) =>
        checkbox({ name: 'kinds', value: kind, label: NOTICE_WORDS[kind], checked: !switchedOff.includes(kind) }),
      ),
    )}
    <p class="hint">
      New keys and programs, sessions from new networks, a changed address and the deletion of the account are always
      mailed.
    </p>
    <button>Save</button>
  </form>`;
}

async function storeNotices({ pool }: DashboardDeps, { account, form }: Visit): Promise<PageAnswer> {
  const wanted = form.all('kinds');
  await switchOffNotices(
    pool,
    account.id,
    NOTICE_KINDS.filter((kind) => !wanted.includes(kind)),
  );
  return { redirect: '/account?done=notices' };
}

async function endSession({ pool }: DashboardDeps, { account, session, params, path }: Visit): Promise<PageAnswer> {
  const { id = '' } = params;
  const isEnded = SESSION_ID.test(id) && (await endDashboardSession(pool, account.id, id));
  if (!isEnded) throw new ApiError('not_found', 'There is no such session.');
  if (id === session.id) return { ...signedOutPage(path('/sign-in')), signedOut: true };
  return { redirect: '/account?done=ended' };
}

async function endOthers({ pool }: DashboardDeps, { account, session }: Visit): Promise<PageAnswer> {
  await endOtherDashboardSessions(pool, account.id, session.id);
  return { redirect: '/account?done=others' };
}

/** A download reads everything, so a few an hour must do. */
async function download(deps: DashboardDeps, visit: Visit): Promise<PageAnswer> {
  const { id } = visit.account;
  const limit = { name: `dashboard:export:${id}`, maxUses: EXPORTS_PER_HOUR, seconds: HOUR };
  const retryAfter = await takeUse(deps.pool, limit);
  if (retryAfter > 0) {
    throw new ApiError('rate_limited', `All data can be downloaded ${EXPORTS_PER_HOUR} times an hour.`, { retryAfter });
  }
  return {
    headers: {
      'Content-Type': 'application/x-ndjson; charset=utf-8',
      'Content-Disposition': `attachment; filename="forum-monitor-${id}.jsonl"`,
      'Cache-Control': 'no-store',
    },
    body: new StreamedBody(() => Promise.resolve(openAccountExport(deps, visit))),
  };
}

function deletionForm(visit: Visit, typed?: { email: string; problem: string | undefined }): Html {
  return html`<details class="danger" ${typed !== undefined && html`open`}>
    <summary>Delete this account for good</summary>
    <p>It takes effect at once and cannot be undone:</p>
    <ul>
      <li>All API keys stop working, and connected programs are refused.</li>
      <li>All monitors stop and are deleted, with their matches and webhooks.</li>
      <li>The remaining ${visit.account.balance.toLocaleString('en')} credits are lost and not refunded.</li>
      <li>The ledger is kept, without your address. This mailbox gets no free credits again.</li>
    </ul>
    <form method="post" action="${visit.path('/account/delete')}" class="narrow">
      ${visit.csrfField}
      ${field({
        name: 'email',
        label: `Type ${visit.account.email} to confirm`,
        value: typed?.email ?? '',
        problem: typed?.problem,
        autocomplete: 'off',
        required: true,
      })}
      <button class="danger">Delete the account</button>
    </form>
  </details>`;
}

async function remove(deps: DashboardDeps, visit: Visit): Promise<PageAnswer> {
  const email = visit.form.text('email');
  try {
    await deps.callApi(visit, 'delete', '/v1/account', { body: { email } });
  } catch (error) {
    const problems = problemsOf(error);
    return accountPage(deps, visit, {
      email,
      problem: problems.has('email') ? 'is not the address of this account' : problems.get(''),
    });
  }
  return { ...goodbyePage(visit), signedOut: true };
}

function goodbyePage({ account, path }: Visit): ShownPage {
  return {
    title: 'Your account is deleted',
    content: html`<p>
        Its keys no longer work, and its monitors have stopped. The data is removed within minutes. A mail to
        <strong>${account.email}</strong> confirms it.
      </p>
      <p>
        Thank you for having been here. You can <a href="${path('/sign-in')}">open another account</a> at any time.
      </p>`,
  };
}
