import {
  endDashboardSession,
  endOtherDashboardSessions,
  listDashboardSessions,
} from '../../../shared/accounts/dashboard-sessions.ts';
import type { StoredDashboardSession } from '../../../shared/accounts/dashboard-sessions.ts';
import { CODE_SECONDS } from '../../../shared/accounts/rules/credentials.ts';
import { takeUse } from '../../../shared/accounts/sliding-log-limits.ts';
import { html } from '../../../shared/http/html.ts';
import type { Html } from '../../../shared/http/html.ts';
import { NOTICE_KINDS, readSwitchedOff, switchOffNotices } from '../../../shared/notices/notices.ts';
import type { NoticeKind } from '../../../shared/notices/notices.ts';
import { browserInWords } from '../account/security-mails.ts';
import { ApiError } from '../http/api-error.ts';
import { exportAccount } from './account-export.ts';
import { confirmAddressChange, pendingAddress, requestAddressChange } from './address-change.ts';
import type { DashboardDeps } from './dashboard.ts';
import { attempt, file, get, post, streamed } from './page.ts';
import type { PageResponse, PageRequest, PageRoute, ShownPage } from './page.ts';
import { ago, checkbox, doneNotice, field, fieldset, number, postButton, time } from './parts.ts';
import { signedOutPage } from './sign-in-router.ts';

const DONE = {
  notices: 'Your mail settings were saved.',
  address: 'The address was changed. Both addresses get a notice.',
  ended: 'The session was signed out.',
  others: 'All other sessions were signed out.',
};

const NOTICE_WORDS: Readonly<Record<NoticeKind, string>> = {
  low_balance: 'My credits will last less than three days',
  monitor_paused: 'A monitor is paused because the credits ran out',
  webhook_failing: 'A webhook is failing: after 10 and at 50 failed deliveries in a row',
  webhook_recovered: 'A failing webhook works again',
};

const HOUR = 3_600;
const STALL_MS = 60_000;
const EXPORTS_PER_HOUR = 10;
const SESSION_ID = /^ses_[0-9a-z]{12}$/;

export function accountPages(deps: DashboardDeps): PageRoute[] {
  const { pool } = deps;
  return [
    get('/account', (request) => accountPage(deps, request)),
    post('/account/notices', async ({ account, form }) => {
      const wanted = form.all('kinds');
      const unwanted = NOTICE_KINDS.filter((kind) => !wanted.includes(kind));
      await switchOffNotices(pool, account.id, unwanted);
      return { redirect: '/account?done=notices' };
    }),
    post('/account/sessions/end-others', async ({ account, session }) => {
      await endOtherDashboardSessions(pool, account.id, session.id);
      return { redirect: '/account?done=others' };
    }),
    post('/account/sessions/:id/end', async ({ account, session, id, path }) => {
      const isEnded = SESSION_ID.test(id) && (await endDashboardSession(pool, account.id, id));
      if (!isEnded) throw new ApiError('not_found', 'No such session.');
      return id === session.id
        ? { ...signedOutPage(path('/sign-in')), signedOut: true }
        : { redirect: '/account?done=ended' };
    }),
    get('/account/export', (request) => download(deps, request)),
    post('/account/delete', (request) => remove(deps, request)),
    get('/account/address', async (request) => {
      const pending = request.query.has('again') ? undefined : await pendingAddress(deps, request);
      return pending === undefined ? addressPage(request) : codesPage(request, pending);
    }),
    post('/account/address', (request) => takeAddress(deps, request)),
    post('/account/address/codes', (request) => takeCodes(deps, request)),
  ];
}

/** @param deletion what the person typed to delete the account, and what is wrong with it */
async function accountPage(
  { pool }: DashboardDeps,
  request: PageRequest,
  deletion?: { email: string; problem: string | undefined },
): Promise<ShownPage> {
  const { account } = request;
  const [switchedOff, sessions] = await Promise.all([
    readSwitchedOff(pool, account.id),
    listDashboardSessions(pool, account.id),
  ]);
  return {
    title: 'Account',
    status: deletion === undefined ? 200 : 400,
    content: html`${doneNotice(request, DONE)}
      <h2>Address</h2>
      <p>Codes and mails go to <strong>${account.email}</strong>.</p>
      <p><a class="button quiet" href="${request.path('/account/address?again=1')}">Change the address</a></p>
      <h2>Mails</h2>
      ${noticeForm(request, switchedOff)}
      <h2>Sessions</h2>
      ${sessionList(request, sessions)}
      <h2>Your data</h2>
      <p>
        One file with everything that is stored about this account: keys and webhooks without their secrets, monitors,
        mutes, matches, deliveries, ledger, payments, sessions and connected apps. Each line is a JSON object with a
        <code>type</code>, as documented in the API reference. A complete file ends with a line of the type
        <code>end</code>.
      </p>
      <p><a class="button quiet" href="${request.path('/account/export')}" download>Download all data</a></p>
      <h2>Delete the account</h2>
      ${deletionForm(request, deletion)}`,
  };
}

function noticeForm(request: PageRequest, switchedOff: readonly NoticeKind[]): Html {
  return html`<form method="post" action="${request.path('/account/notices')}" class="narrow">
    ${request.csrfField}
    ${fieldset(
      'Mail me (at most once a day for each) when',
      NOTICE_KINDS.map((kind) => checkbox('kinds', NOTICE_WORDS[kind], !switchedOff.includes(kind), kind)),
    )}
    <p class="hint">
      You always get a mail about new keys and apps, sign-ins from new networks, a changed address, and the deletion of
      the account.
    </p>
    <div class="actions"><button>Save</button></div>
  </form>`;
}

/** A download reads everything, so a few an hour must do. */
async function download(deps: DashboardDeps, request: PageRequest): Promise<PageResponse> {
  const { id } = request.account;
  const limit = { name: `dashboard:export:${id}`, maxUses: EXPORTS_PER_HOUR, seconds: HOUR };
  const retryAfter = await takeUse(deps.pool, limit);
  if (retryAfter > 0) {
    throw new ApiError(
      'rate_limited',
      `You can download all data ${EXPORTS_PER_HOUR} times an hour. Try again later.`,
      { retryAfter },
    );
  }
  const body = streamed(() => exportAccount(deps, request), STALL_MS);
  return file('application/x-ndjson; charset=utf-8', `forum-monitor-${id}.jsonl`, body);
}

function deletionForm(request: PageRequest, typed?: { email: string; problem: string | undefined }): Html {
  return html`<details class="danger" ${typed !== undefined && html`open`}>
    <summary>Delete this account permanently</summary>
    <p>This takes effect immediately and cannot be undone:</p>
    <ul>
      <li>All API keys stop working, and connected apps lose access.</li>
      <li>All monitors stop and are deleted, with their matches and webhooks.</li>
      <li>The remaining ${number(request.account.balance)} credits are lost and not refunded.</li>
      <li>The ledger is kept, without your address. This mailbox gets no free credits again.</li>
    </ul>
    <form method="post" action="${request.path('/account/delete')}" class="narrow">
      ${request.csrfField}
      ${field({
        name: 'email',
        label: `Type ${request.account.email} to confirm`,
        value: typed?.email ?? '',
        problem: typed?.problem,
        autocomplete: 'off',
        required: true,
      })}
      <button class="danger">Delete the account</button>
    </form>
  </details>`;
}

async function remove(deps: DashboardDeps, request: PageRequest): Promise<PageResponse> {
  const email = request.form.text('email');
  const { value, problems } = await attempt(request.call('delete', '/v1/account', { body: { email } }));
  if (value === undefined) {
    const problem = problems.has('email') ? 'is not the address of this account' : problems.get('');
    return accountPage(deps, request, { email, problem });
  }
  return {
    title: 'Your account was deleted',
    signedOut: true,
    content: html`<p>
        Its keys no longer work, and its monitors have stopped. The data is removed within minutes. A confirmation was
        mailed to <strong>${request.account.email}</strong>.
      </p>
      <p>
        Thank you for using Forum monitor. You can <a href="${request.path('/sign-in')}">open another account</a> at any
        time.
      </p>`,
  };
}

function sessionList(request: PageRequest, sessions: readonly StoredDashboardSession[]): Html {
  return html`<ul class="items" aria-label="Browsers that are signed in">
      ${sessions.map((session) => sessionItem(request, session))}
    </ul>
    ${
      sessions.length > 1 &&
      html`<p>
        ${postButton(request, { action: '/account/sessions/end-others', label: 'Sign out all other sessions' })}
      </p>`
    }`;
}

function sessionItem(request: PageRequest, session: StoredDashboardSession): Html {
  const isThis = session.id === request.session.id;
  const browser = browserInWords(session.userAgent);
  return html`<li>
    <h3>${browser}${isThis && html` <span class="good">(this one)</span>`}</h3>
    <p class="note">
      Network ${session.network} · signed in ${time(session.createdAt)} · last seen
      ${ago(session.lastSeenAt, request.now)}
    </p>
    ${postButton(request, {
      action: `/account/sessions/${session.id}/end`,
      label: isThis ? 'Sign out here' : html`Sign out<span class="hidden"> ${browser}</span>`,
    })}
  </li>`;
}

async function takeAddress(deps: DashboardDeps, request: PageRequest): Promise<PageResponse> {
  const email = request.form.text('email').slice(0, 1_000);
  const { problems } = await attempt(requestAddressChange(deps, request, email));
  if (problems.size === 0) return { redirect: '/account/address' };
  return addressPage(request, { email, problem: problems.get('email') ?? problems.get('')?.replace(/^email: /, '') });
}

async function takeCodes(deps: DashboardDeps, request: PageRequest): Promise<PageResponse> {
  const pending = await pendingAddress(deps, request);
  const result = await confirmAddressChange(deps, request, {
    oldCode: request.form.code('old_code'),
    newCode: request.form.code('new_code'),
  });
  if (result.outcome === 'changed') return { redirect: '/account?done=address' };
  if (result.outcome === 'wrong' && pending !== undefined) return codesPage(request, pending, result);
  const problem = result.outcome === 'over' ? result.problem : undefined;
  return addressPage(request, { email: pending ?? '', problem });
}

function addressPage(request: PageRequest, form: { email: string; problem: string | undefined } = NOTHING): ShownPage {
  return {
    title: 'Change the address',
    status: form.problem === undefined ? 200 : 400,
    content: html`<p>The address of this account is <strong>${request.account.email}</strong>.</p>
      <form method="post" action="${request.path('/account/address')}" class="narrow">
        ${request.csrfField}
        ${field({
          name: 'email',
          label: 'New address',
          type: 'email',
          value: form.email,
          autocomplete: 'email',
          required: true,
          problem: form.problem,
          hint: 'We mail a code to the old address and one to the new address. You need both.',
        })}
        <button>Mail the codes</button>
      </form>
      ${back(request)}`,
  };
}

const NOTHING = { email: '', problem: undefined };

function codesPage(
  request: PageRequest,
  newEmail: string,
  { oldProblem, newProblem }: { oldProblem?: string | undefined; newProblem?: string | undefined } = {},
): ShownPage {
  const code = (name: string, address: string, problem: string | undefined) =>
    field({
      name,
      label: `Code mailed to ${address}`,
      value: '',
      autocomplete: 'off',
      inputmode: 'numeric',
      required: true,
      problem,
    });
  return {
    title: 'Enter both codes',
    status: oldProblem === undefined && newProblem === undefined ? 200 : 400,
    content: html`<p>
        Two mails with a 6-digit code each are on their way. The codes are valid for ${CODE_SECONDS / 60} minutes. After
        the change, other sessions are signed out, and codes and notices go only to the new address. API keys still
        work.
      </p>
      <form method="post" action="${request.path('/account/address/codes')}" class="narrow">
        ${request.csrfField} ${code('old_code', request.account.email, oldProblem)}
        ${code('new_code', newEmail, newProblem)}
        <button>Change the address</button>
      </form>
      <p><a href="${request.path('/account/address?again=1')}">Use another address, or get new codes</a></p>
      ${back(request)}`,
  };
}

function back(request: PageRequest): Html {
  return html`<p><a href="${request.path('/account')}">Back to the account</a></p>`;
}
