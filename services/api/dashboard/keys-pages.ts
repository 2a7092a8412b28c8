import { KEY_SCOPES } from '../../../schemas/api/account.ts';
import type { AccountGrantResource, ApiKey, KeyScope } from '../../../schemas/api/account.ts';
import { html } from '../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../shared/http/html.ts';
import { PERMISSION_WORDS } from '../admission/caller.ts';
import { SCOPES } from '../oauth/oauth-metadata.ts';
import type { DashboardDeps } from './dashboard.ts';
import { action, attempt, get, newFormKey, NO_PROBLEMS, idempotencyKeyOf, post } from './page.ts';
import type { FieldProblems, PageResponse, PageRoute, ShownPage, PageRequest } from './page.ts';
import { ago, checkbox, copyable, dangerousButton, doneNotice, field, fieldset, list, time } from './parts.ts';

/** A request that a key can try, by the permission it needs; the first that fits. */
const EXAMPLES: readonly (readonly [scope: KeyScope, path: string])[] = [
  ['account', '/v1/account'],
  ['monitors:read', '/v1/monitors'],
  ['forum:read', '/v1/forum/search?q=coffee&limit=3'],
];

/** Who may use the account besides the person: API keys and connected apps (OAuth). */
export function keysPages({ baseUrl }: Pick<DashboardDeps, 'baseUrl'>): PageRoute[] {
  return [
    get('/keys', (request) => keysPage(request)),
    post('/keys', (request) => create(baseUrl, request)),
    action('/keys/:id/revoke', 'delete', '/v1/account/keys/:id', '/keys?done=revoked'),
    get('/programs', (request) => connectedAppsPage(baseUrl, request)),
    action('/programs/:id/revoke', 'delete', '/v1/account/grants/:id', '/programs?done=disconnected'),
  ];
}

type KeyForm = { name: string; scopes: readonly string[]; problems: FieldProblems };
const NEW_KEY: KeyForm = { name: '', scopes: ['forum:read'], problems: NO_PROBLEMS };

async function keysPage(request: PageRequest, form = NEW_KEY): Promise<ShownPage> {
  const { items } = (await request.read('/v1/account/keys')) as { items: ApiKey[] };
  return {
    title: 'API keys',
    status: form.problems.size > 0 ? 400 : 200,
    content: html`${doneNotice(request, { revoked: 'The key was revoked. It no longer works.' })}
      <p>
        Programs send a key with each request, as <code>Authorization: Bearer KEY</code>. Give each program its own key
        with only the permissions it needs, so that you can revoke one without affecting the others.
      </p>
      ${
        items.length === 0
          ? html`<p class="empty">This account has no keys yet.</p>`
          : html`<h2>Active keys</h2>
              <ul class="items">
                ${items.map((key) => keyItem(request, key))}
              </ul>`
      }
      <h2>Create a key</h2>
      ${keyForm(request, form)}`,
  };
}

function keyItem(request: PageRequest, key: ApiKey): Html {
  const scopes = key.scopes.length < KEY_SCOPES.length && key.scopes.map((scope) => PERMISSION_WORDS[scope]);
  return html`<li>
    <h3>${key.name}</h3>
    <p class="note">
      <code>fk_${key.id}…</code> · created ${time(key.created_at)} · ${lastUse(request, key.last_used_at)}
    </p>
    ${
      scopes
        ? html`<p>It can:</p>
            ${list(scopes)}`
        : html`<p>It has all permissions.</p>`
    }
    ${dangerousButton(request, {
      action: `/keys/${key.id}/revoke`,
      label: html`Revoke<span class="hidden"> ${key.name}</span> permanently`,
      summary: html`Revoke<span class="hidden"> ${key.name}</span>`,
      consequences: 'Programs that use this key lose access immediately. This cannot be undone: they need a new key.',
    })}
  </li>`;
}

function lastUse({ now }: PageRequest, at: string | null): HtmlValue {
  return at === null ? 'never used' : html`last used ${ago(at, now)}`;
}

function keyForm(request: PageRequest, { name, scopes, problems }: KeyForm): Html {
  return html`<form method="post" action="${request.path('/keys')}" class="narrow">
    ${request.csrfField}
    <input type="hidden" name="once" value="${newFormKey()}" />
    ${problems.has('') && html`<p role="alert">${problems.get('')}</p>`}
    ${field({
      name: 'name',
      label: 'Name',
      value: name,
      hint: 'What the key is for, such as the name of the program.',
      problem: problems.get('name'),
      required: true,
      maxlength: 200,
      autocomplete: 'off',
    })}
    ${fieldset(
      'Permissions (only what the program needs)',
      KEY_SCOPES.map((scope) => checkbox('scopes', PERMISSION_WORDS[scope], scopes.includes(scope), scope)),
      problems.get('scopes'),
    )}
    <button>Create the key</button>
  </form>`;
}

/** The form is idempotent: sent twice, it creates one key, and both responses show it. */
async function create(baseUrl: string, request: PageRequest): Promise<PageResponse> {
  const wanted = { name: request.form.text('name'), scopes: request.form.all('scopes') };
  if (wanted.scopes.length === 0) {
    return keysPage(request, { ...wanted, problems: new Map([['scopes', 'choose at least one']]) });
  }
  const created = request.call('post', '/v1/account/keys', { body: wanted, ...idempotencyKeyOf(request.form, wanted) });
  const { value, problems } = await attempt(created);
  if (value === undefined) return keysPage(request, { ...wanted, problems });
  return createdPage(baseUrl, request, value.body as { key: ApiKey; api_key: string });
}

function createdPage(baseUrl: string, request: PageRequest, created: { key: ApiKey; api_key: string }): ShownPage {
  const { key, api_key: secret } = created;
  const example = EXAMPLES.find(([scope]) => key.scopes.includes(scope))?.[1];
  return {
    title: 'Your new key',
    status: 201,
    content: html`<p class="notice">
        This key is shown only once. Copy it now and store it where your program keeps its secrets.
      </p>
      ${copyable('new-key', secret, 'the key')}
      <h2>${key.name} can</h2>
      ${list(key.scopes.map((scope) => PERMISSION_WORDS[scope]))}
      ${
        example !== undefined &&
        html`<h2>Try it</h2>
          ${copyable('example', `curl -s -H 'Authorization: Bearer ${secret}' '${baseUrl}${example}'`, 'the command')}`
      }
      <p><a class="button" href="${request.path('/keys')}">I have stored the key</a></p>`,
  };
}

async function connectedAppsPage(baseUrl: string, request: PageRequest): Promise<ShownPage> {
  const { items } = (await request.read('/v1/account/grants')) as { items: AccountGrantResource[] };
  const disconnected = 'The app was disconnected. It can no longer use your account.';
  return {
    title: 'Connected apps',
    content: html`${doneNotice(request, { disconnected })}
      <p>
        Apps that you allowed to use your account, such as assistants that read the forum for you. They connect to
        <code>${baseUrl}/mcp</code>.
      </p>
      ${
        items.length === 0
          ? html`<p class="empty">No apps are connected.</p>`
          : html`<h2>Apps that can use your account</h2>
              <ul class="items">
                ${items.map((grant) => connectedAppItem(request, grant))}
              </ul>`
      }`,
  };
}

function connectedAppItem(request: PageRequest, grant: AccountGrantResource): Html {
  const name = grant.client_name ?? 'An app without a name';
  return html`<li>
    <h3>${name}</h3>
    <p class="note">
      ${originOf(grant)} · connected ${time(grant.granted_at)} · ${lastUse(request, grant.last_used_at)}
    </p>
    <p>It can:</p>
    ${list(grant.scopes.map((scope) => SCOPES.get(scope) ?? scope))}
    ${dangerousButton(request, {
      action: `/programs/${grant.id}/revoke`,
      label: html`Disconnect<span class="hidden"> ${name}</span> now`,
      summary: html`Disconnect<span class="hidden"> ${name}</span>`,
      consequences: 'The app loses access immediately. It can ask you to sign in again.',
    })}
  </li>`;
}

/** An app that is described by a document belongs to the document's host; others registered without proof. */
function originOf({ client_id: clientId }: AccountGrantResource): string {
  const host = /^https?:/i.test(clientId) ? URL.parse(clientId)?.host : undefined;
  return host === undefined ? 'Self-registered; the name is not verified' : `Of ${host}`;
}
