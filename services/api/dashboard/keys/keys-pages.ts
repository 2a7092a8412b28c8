import { KEY_SCOPES } from '../../../../schemas/api/account.ts';
import type { ApiKey, KeyScope } from '../../../../schemas/api/account.ts';
import { PERMISSION_WORDS } from '../../account/permission-words.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';
import { problemsOf } from '../call-api.ts';
import type { FieldProblems } from '../call-api.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageAnswer, PageRoute, ShownPage, Visit } from '../page-route.ts';
import { copyable } from '../parts/copyable.ts';
import { doneNotice } from '../parts/done-notice.ts';
import { checkbox, field, fieldset } from '../parts/field.ts';
import { newOnce, onceKey } from '../parts/once.ts';
import { dangerousButton } from '../parts/post-button.ts';
import { ago, time } from '../parts/time.ts';

const DONE = new Map([['revoked', 'The key was revoked. It no longer works.']]);
/** A request that a key can try, by the permission it needs; the first that fits. */
const EXAMPLES: readonly (readonly [scope: KeyScope, path: string])[] = [
  ['account', '/v1/account'],
  ['monitors:read', '/v1/monitors'],
  ['forum:read', '/v1/forum/search?q=coffee&limit=3'],
];

/** The page of an account's API keys: list, create, revoke. */
export function keysPages(deps: DashboardDeps): PageRoute[] {
  return [
    { method: 'get', path: '/keys', handle: (visit) => listPage(deps, visit) },
    { method: 'post', path: '/keys', handle: (visit) => create(deps, visit) },
    { method: 'post', path: '/keys/:id/revoke', handle: (visit) => revoke(deps, visit) },
  ];
}

/** What is in the form. */
interface KeyForm {
  name: string;
  scopes: readonly string[];
  problems: FieldProblems;
}

const EMPTY_FORM: KeyForm = { name: '', scopes: KEY_SCOPES, problems: new Map() };

async function listPage(deps: DashboardDeps, visit: Visit, form = EMPTY_FORM): Promise<ShownPage> {
  const { body } = await deps.callApi(visit, 'get', '/v1/account/keys');
  const { items } = body as { items: ApiKey[] };
  return {
    title: 'API keys',
    status: form.problems.size > 0 ? 400 : 200,
    content: html`${doneNotice(visit, DONE)}
      <p>
        Programs use the API with a key, as <code>Authorization: Bearer KEY</code>. Give each program a key of its own,
        with no more permissions than it needs, so that you can revoke one without the others.
      </p>
      ${keyList(deps, visit, items)}
      <h2>Create a key</h2>
      ${keyForm(visit, form)}`,
  };
}

function keyList({ clock }: DashboardDeps, visit: Visit, keys: readonly ApiKey[]): Html {
  if (keys.length === 0) return html`<p>This account has no key yet.</p>`;
  return html`<h2>Keys that work</h2>
    <ul class="items">
      ${keys.map((key) => keyItem(visit, key, clock()))}
    </ul>`;
}

function keyItem(visit: Visit, key: ApiKey, now: number): Html {
  return html`<li>
    <h3>${key.name}</h3>
    <p class="note">
      <code>fk_${key.id}…</code> · created ${time(key.created_at)} ·
      ${key.last_used_at === null ? 'never used' : html`last used ${ago(key.last_used_at, now)}`}
    </p>
    ${permissions(key.scopes)}
    ${dangerousButton(visit, {
      action: `/keys/${key.id}/revoke`,
      label: html`Revoke<span class="hidden"> ${key.name}</span> for good`,
      summary: html`Revoke<span class="hidden"> ${key.name}</span>`,
      consequences: 'Programs that use this key are refused at once. It cannot be undone: they need another key.',
    })}
  </li>`;
}

function permissions(scopes: ApiKey['scopes']): Html {
  if (scopes.length === KEY_SCOPES.length) return html`<p>It may do everything.</p>`;
  return html`<p>It may:</p>
    <ul>
      ${scopes.map((scope) => html`<li>${PERMISSION_WORDS[scope]}</li>`)}
    </ul>`;
}

function keyForm(visit: Visit, { name, scopes, problems }: KeyForm): Html {
  const general = problems.get('');
  return html`<form method="post" action="${visit.path('/keys')}" class="narrow">
    ${visit.csrfField}
    <input type="hidden" name="once" value="${newOnce()}" />
    ${general !== undefined && html`<p role="alert">${general}</p>`}
    ${field({
      name: 'name',
      label: 'Name',
      value: name,
      hint: 'What the key is for, such as the name of a program.',
      problem: problems.get('name'),
      required: true,
      maxlength: 200,
      autocomplete: 'off',
    })}
    ${fieldset(
      'Permissions',
      KEY_SCOPES.map((scope) =>
        checkbox({ name: 'scopes', value: scope, label: PERMISSION_WORDS[scope], checked: scopes.includes(scope) }),
      ),
      problems.get('scopes'),
    )}
    <button>Create the key</button>
  </form>`;
}

/** The form holds a random value: a form that is sent twice creates one key, and both answers show it. */
async function create(deps: DashboardDeps, visit: Visit): Promise<PageAnswer> {
  const asked = { name: visit.form.text('name'), scopes: visit.form.all('scopes') };
  if (asked.scopes.length === 0) {
    return listPage(deps, visit, { ...asked, problems: new Map([['scopes', 'choose at least one']]) });
  }
  try {
    const { body } = await deps.callApi(visit, 'post', '/v1/account/keys', {
      body: asked,
      ...onceKey(visit.form, asked),
    });
    return createdPage(deps, visit, body as { key: ApiKey; api_key: string });
  } catch (error) {
    return listPage(deps, visit, { ...asked, problems: problemsOf(error) });
  }
}

function createdPage(
  { baseUrl }: DashboardDeps,
  visit: Visit,
  { key, api_key }: { key: ApiKey; api_key: string },
): ShownPage {
  const example = EXAMPLES.find(([scope]) => key.scopes.includes(scope))?.[1];
  return {
    title: 'Your new key',
    status: 201,
    content: html`<p class="notice">
        This is the only time that the key is shown. Copy it now, and keep it where your program keeps its secrets.
      </p>
      ${copyable('new-key', api_key, 'the key')}
      <h2>${key.name} may</h2>
      <ul>
        ${key.scopes.map((scope) => html`<li>${PERMISSION_WORDS[scope]}</li>`)}
      </ul>
      ${example === undefined ? undefined : tryIt(`curl -s -H 'Authorization: Bearer ${api_key}' '${baseUrl}${example}'`)}
      <p><a class="button" href="${visit.path('/keys')}">I have stored the key</a></p>`,
  };
}

function tryIt(command: string): Html {
  return html`<h2>Try it</h2>
    ${copyable('example', command, 'the command')}`;
}

async function revoke(deps: DashboardDeps, visit: Visit): Promise<PageAnswer> {
  await deps.callApi(visit, 'delete', '/v1/account/keys/:id', { id: visit.params.id ?? '' });
  return { redirect: '/keys?done=revoked' };
}
