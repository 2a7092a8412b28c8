import { CODE_SECONDS } from '../../../../shared/domain/accounts/mailed-tokens.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';
import { problemsOf } from '../call-api.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageAnswer, PageRoute, ShownPage, Visit } from '../page-route.ts';
import { field } from '../parts/field.ts';
import { createAddressChanges } from './address-change.ts';
import type { AddressChanges, AddressOwner } from './address-change.ts';

/** The pages of a change of the account's address: the new address, then the codes of both addresses. */
export function addressPages(deps: DashboardDeps): PageRoute[] {
  const changes = createAddressChanges(deps);
  return [
    { method: 'get', path: '/account/address', handle: (visit) => showStep(changes, visit) },
    { method: 'post', path: '/account/address', handle: (visit) => takeAddress(changes, visit) },
    { method: 'post', path: '/account/address/codes', handle: (visit) => takeCodes(changes, visit) },
  ];
}

async function showStep(changes: AddressChanges, visit: Visit): Promise<ShownPage> {
  const isAgain = visit.query.has('again');
  const pending = isAgain ? undefined : await changes.pending(ownerOf(visit));
  return pending === undefined ? addressPage(visit) : codesPage(visit, pending);
}

async function takeAddress(changes: AddressChanges, visit: Visit): Promise<PageAnswer> {
  const email = visit.form.text('email').slice(0, 1_000);
  try {
    await changes.request(ownerOf(visit), email);
    return { redirect: '/account/address' };
  } catch (error) {
    const problems = problemsOf(error);
    const problem = problems.get('email') ?? problems.get('')?.replace(/^email: /, '');
    return addressPage(visit, { email, problem });
  }
}

async function takeCodes(changes: AddressChanges, visit: Visit): Promise<PageAnswer> {
  const codeOf = (name: string) => visit.form.text(name).replace(/[\s-]/g, '').slice(0, 100);
  const owner = ownerOf(visit);
  const pending = await changes.pending(owner);
  const verdict = await changes.confirm(owner, { oldCode: codeOf('old_code'), newCode: codeOf('new_code') });
  if (verdict.outcome === 'changed') return { redirect: '/account?done=address' };
  if (verdict.outcome === 'wrong' && pending !== undefined) return codesPage(visit, pending, verdict);
  const problem = verdict.outcome === 'over' ? verdict.problem : undefined;
  return addressPage(visit, { email: pending ?? '', problem });
}

function ownerOf({ account, session, clientAddress }: Visit): AddressOwner {
  return { account, sessionId: session.id, clientAddress };
}

function addressPage(visit: Visit, form: { email: string; problem: string | undefined } = NOTHING): ShownPage {
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
  visit: Visit,
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

function back(visit: Visit): Html {
  return html`<p><a href="${visit.path('/account')}">Back to the account</a></p>`;
}
