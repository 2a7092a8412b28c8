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
import type { PageAnswer, PageRequest, PageRoute, ShownPage } from './page.ts';
import { ago, checkbox, doneNotice, field, fieldset, number, postButton, time } from './parts.ts';
import { signedOutPage } from './sign-in-router.ts';

const DONE = {
  notices: 'Your choice of mails was saved.',
  address: 'The address was changed. Both addresses are told.',
  ended: 'The session was ended.',
  others: 'All other sessions were ended.',
};

const NOTICE_WORDS: Readonly<Record<NoticeKind, string>> = {
  low_balance: 'The credits will last less than three days',
  monitor_paused: 'A monitor was paused because the credits ran out',
  webhook_failing: 'A webhook fails: after 10 and at 50 failed deliveries in a row',
  webhook_recovered: 'A webhook that failed works again',
};

const HOUR = 3_600;
const STALL_MS = 60_000;
const EXPORTS_PER_HOUR = 10;
const SESSION_ID = /^ses_[0-9a-z]{12}$/;

export function accountPages(deps: DashboardDeps): PageRoute[] {
  const { pool } = deps;
  return [
    get('/account', (visit) => accountPage(deps, visit)),
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
      if (!isEnded) throw new ApiError('not_found', 'There is no such session.');
      return id === session.id
        ? { ...signedOutPage(path('/sign-in')), signedOut: true }
        : { redirect: '/account?done=ended' };
    }),
    get('/account/export', (visit) => download(deps, visit)),
    post('/account/delete', (visit) => remove(deps, visit)),
    get('/account/address', async (visit) => {
      const pending = visit.query.has('again') ? undefined : await pendingAddress(deps, visit);
      return pending === undefined ? addressPage(visit) : codesPage(visit, pending);
    }),
    post('/account/address', (visit) => takeAddress(deps, visit)),
    post('/account/address/codes', (visit) => takeCodes(deps, visit)),
  ];
}

/** @param deletion what the person typed to delete the account, and what is wrong with it */
async function accountPage(
  { pool }: DashboardDeps,
  visit: PageRequest,
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
      ${sessionList(visit, sessions)}
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

function noticeForm(visit: PageRequest, switchedOff: readonly NoticeKind[]): Html {
  return html`<form method="post" action="${visit.path('/account/notices')}" class="narrow">
    ${visit.csrfField}
    ${fieldset(
      'Mail me, at most once a day each, when',
      NOTICE_KINDS.map((kind) => checkbox('kinds', NOTICE_WORDS[kind], !switchedOff.includes(kind), kind)),
    )}
    <p class="hint">
      New keys and programs, sessions from new networks, a changed address and the deletion of the account are always
      mailed.
    </p>
    <button>Save</button>
  </form>`;
}

/** A download reads everything, so a few an hour must do. */
async function download(deps: DashboardDeps, visit: PageRequest): Promise<PageAnswer> {
  const { id } = visit.account;
  const limit = { name: `dashboard:export:${id}`, maxUses: EXPORTS_PER_HOUR, seconds: HOUR };
  const retryAfter = await takeUse(deps.pool, limit);
  if (retryAfter > 0) {
    throw new ApiError('rate_limited', `All data can be downloaded ${EXPORTS_PER_HOUR} times an hour.`, { retryAfter });
  }
  const body = streamed(() => exportAccount(deps, visit), STALL_MS);
  return file('application/x-ndjson; charset=utf-8', `forum-monitor-${id}.jsonl`, body);
}

function deletionForm(visit: PageRequest, typed?: { email: string; problem: string | undefined }): Html {
  return html`<details class="danger" ${typed !== undefined && html`open`}>
    <summary>Delete this account for good</summary>
    <p>It takes effect at once and cannot be undone:</p>
    <ul>
      <li>All API keys stop working, and connected programs are refused.</li>
      <li>All monitors stop and are deleted, with their matches and webhooks.</li>
      <li>The remaining ${number(visit.account.balance)} credits are lost and not refunded.</li>
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

async function remove(deps: DashboardDeps, visit: PageRequest): Promise<PageAnswer> {
  const email = visit.form.text('email');
  const { value, problems } = await attempt(visit.call('delete', '/v1/account', { body: { email } }));
  if (value === undefined) {
    const problem = problems.has('email') ? 'is not the address of this account' : problems.get('');
    return accountPage(deps, visit, { email, problem });
  }
  return {
    title: 'Your account is deleted',
    signedOut: true,
    content: html`<p>
        Its keys no longer work, and its monitors have stopped. The data is removed within minutes. A mail to
        <strong>${visit.account.email}</strong> confirms it.
      </p>
      <p>
        Thank you for having been here. You can <a href="${visit.path('/sign-in')}">open another account</a> at any
        time.
      </p>`,
  };
}

function sessionList(visit: PageRequest, sessions: readonly StoredDashboardSession[]): Html {
  return html`<ul class="items" aria-label="Browsers that are signed in">
      ${sessions.map((session) => sessionItem(visit, session))}
    </ul>
    ${
      sessions.length > 1 &&
      html`<p>${postButton(visit, { action: '/account/sessions/end-others', label: 'End all other sessions' })}</p>`
    }`;
}

function sessionItem(visit: PageRequest, session: StoredDashboardSession): Html {
  const isThis = session.id === visit.session.id;
  const browser = browserInWords(session.userAgent);
  return html`<li>
    <h3>${browser}${isThis && html` <span class="good">(this one)</span>`}</h3>
    <p class="note">
      Network ${session.network} · signed in ${time(session.createdAt)} · last seen
      ${ago(session.lastSeenAt, visit.now)}
    </p>
    ${postButton(visit, {
      action: `/account/sessions/${session.id}/end`,
      label: isThis ? 'Sign out here' : html`End<span class="hidden"> the session of ${browser}</span>`,
    })}
  </li>`;
}

async function takeAddress(deps: DashboardDeps, visit: PageRequest): Promise<PageAnswer> {
  const email = visit.form.text('email').slice(0, 1_000);
  const { problems } = await attempt(requestAddressChange(deps, visit, email));
  if (problems.size === 0) return { redirect: '/account/address' };
  return addressPage(visit, { email, problem: problems.get('email') ?? problems.get('')?.replace(/^email: /, '') });
}

async function takeCodes(deps: DashboardDeps, visit: PageRequest): Promise<PageAnswer> {
  const pending = await pendingAddress(deps, visit);
  const verdict = await confirmAddressChange(deps, visit, {
    oldCode: visit.form.code('old_code'),
    newCode: visit.form.code('new_code'),
  });
  if (verdict.outcome === 'changed') return { redirect: '/account?done=address' };
  if (verdict.outcome === 'wrong' && pending !== undefined) return codesPage(visit, pending, verdict);
  const problem = verdict.outcome === 'over' ? verdict.problem : undefined;
  return addressPage(visit, { email: pending ?? '', problem });
}

function addressPage(visit: PageRequest, form: { email: string; problem: string | undefined } = NOTHING): ShownPage {
  return {
    title: 'Change the address',
    status: form.problem === undefined ? 200 : 400,
    content: html`<p>The address of this account is <strong>${visit.account.email}</strong>.</p>
      <form method="post" action="${visit.path('/account/address')}" class="narrow">
        ${visit.csrfField}
        ${field({
          name: 'email',
          label: 'New address',
          type: 'email',
          value: form.email,
          autocomplete: 'email',
          required: true,
          problem: form.problem,
          hint: 'A code is mailed to the old and to the new address. Both are needed.',
        })}
        <button>Mail the codes</button>
      </form>
      ${back(visit)}`,
  };
}

const NOTHING = { email: '', problem: undefined };

function codesPage(
  visit: PageRequest,
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
        Two mails with a code of six digits each are on their way. They are valid for ${CODE_SECONDS / 60} minutes.
        Afterwards other sessions end, codes and notices are mailed to the new address only, and API keys still work.
      </p>
      <form method="post" action="${visit.path('/account/address/codes')}" class="narrow">
        ${visit.csrfField} ${code('old_code', visit.account.email, oldProblem)}
        ${code('new_code', newEmail, newProblem)}
        <button>Change the address</button>
      </form>
      <p><a href="${visit.path('/account/address?again=1')}">Use another address, or get other codes</a></p>
      ${back(visit)}`,
  };
}

function back(visit: PageRequest): Html {
  return html`<p><a href="${visit.path('/account')}">Back to the account</a></p>`;
}
