/**
 * Programs as customers write them with generated clients. Each gets the address and a key in its environment, and
 * prints what it read as one line of JSON.
 */

/** With openapi-typescript's types and its client openapi-fetch. */
export const TYPED_FETCH_PROGRAM = `
import createClient from 'openapi-fetch';
import type { paths, webhooks } from './paths.ts';

declare const process: { env: Record<string, string | undefined> };
const { API_URL = '', API_KEY = '', POST_ID = '' } = process.env;
const client = createClient<paths>({ baseUrl: API_URL, headers: { Authorization: 'Bearer ' + API_KEY } });

const created = await client.POST('/v1/monitors', {
  body: { name: 'typed', keywords: ['rust*'] },
  params: { header: { 'Idempotency-Key': 'typed' } },
});
if (created.data === undefined) throw new Error(created.error.error.message);
const { monitor, webhook_secret: secret, warnings = [] } = created.data;
const path = { id: monitor.id };
const changed = await client.PATCH('/v1/monitors/{id}', { params: { path }, body: { keywords: ['tea'] } });
const page = await client.GET('/v1/monitors/{id}/matches', { params: { path, query: { limit: 5 } } });
const shown = await client.GET('/v1/monitors/{id}', { params: { path } });
const deleted = await client.DELETE('/v1/monitors/{id}', { params: { path } });
const post = await client.GET('/v1/forum/post', { params: { query: { id: POST_ID } } });
const text = await client.GET('/v1/forum/post', { params: { query: { id: POST_ID, format: 'md' } }, parseAs: 'text' });
const missing = await client.GET('/v1/monitors/{id}', { params: { path: { id: 'mon_000000000000' } } });
const wrong = await client.GET('/v1/forum/search', { params: { query: { q: 'x'.repeat(600) } } });

type Webhook = webhooks['monitorMatch']['post'];
/** Compiles only if the payload and the headers of webhooks have types. */
export function receive(
  headers: Webhook['parameters']['header'],
  event: Webhook['requestBody']['content']['application/json'],
): string[] {
  const signature: string = headers['X-Service-Signature'];
  const previous: string | undefined = headers['X-Service-Signature-Previous'];
  return [signature, previous ?? '', event.match.permalink];
}

console.log(
  JSON.stringify({
    status: created.response.status,
    secret: secret.slice(0, 6),
    warning: warnings[0]?.code,
    posts: monitor.include_posts,
    keywords: changed.data?.monitor.keywords,
    matches: page.data?.items.length,
    today: shown.data?.stats.matches_today,
    deleted: deleted.data?.status,
    post: post.data !== undefined && typeof post.data !== 'string' && 'post' in post.data ? post.data.post.name : undefined,
    text: text.data?.toString().startsWith('# '),
    missing: [missing.response.status, missing.error?.error.code],
    wrong: [wrong.response.status, wrong.error?.error.message.split(':')[0]],
  }),
);
`;

/** With orval's client for fetch. */
export const ORVAL_PROGRAM = `
import * as api from './orval.ts';

declare const process: { env: Record<string, string | undefined> };
const { API_KEY = '', POST_ID = '' } = process.env;
const headers = { Authorization: 'Bearer ' + API_KEY };
const json = { ...headers, 'Content-Type': 'application/json' };

const created = await api.createMonitor({ name: 'typed', keywords: ['rust*'] }, { headers: json });
if (created.status !== 201) throw new Error(created.data.error.message);
const { monitor, webhook_secret: secret, warnings = [] } = created.data;
const changed = await api.updateMonitor(monitor.id, { keywords: ['tea'] }, { headers: json });
const page = await api.listMatches(monitor.id, { limit: 5 }, { headers });
const shown = await api.getMonitor(monitor.id, { headers });
const deleted = await api.deleteMonitor(monitor.id, { headers });
const post = await api.getPost({ id: POST_ID }, { headers });
const text = await api.getPost({ id: POST_ID, format: 'md' }, { headers });
const missing = await api.getMonitor('mon_000000000000', { headers });
const wrong = await api.searchForum({ q: 'x'.repeat(600) }, { headers });

console.log(
  JSON.stringify({
    status: created.status,
    secret: secret.slice(0, 6),
    warning: warnings[0]?.code,
    posts: monitor.include_posts,
    keywords: changed.status === 200 ? changed.data.monitor.keywords : undefined,
    matches: page.status === 200 ? page.data.items.length : undefined,
    today: shown.status === 200 ? shown.data.stats.matches_today : undefined,
    deleted: deleted.status === 200 ? deleted.data.status : undefined,
    post: post.status === 200 && typeof post.data !== 'string' && 'post' in post.data ? post.data.post.name : undefined,
    text: text.status === 200 && typeof text.data === 'string' && text.data.startsWith('# '),
    missing: missing.status === 404 ? [missing.status, missing.data.error.code] : undefined,
    wrong: wrong.status === 400 ? [wrong.status, wrong.data.error.message.split(':')[0]] : undefined,
  }),
);
`;

/** With openapi-python-client, which knows one type per status: no Markdown. */
export const PYTHON_PROGRAM = `
import json, os
from forum_client import AuthenticatedClient
from forum_client.api.monitors import create_monitor, delete_monitor, get_monitor, list_matches, update_monitor
from forum_client.api.reading import get_post, search_forum
from forum_client.models import CreateMonitor, CreatedMonitor, Error, PatchMonitor, PostResponse

post_id = os.environ["POST_ID"]
client = AuthenticatedClient(base_url=os.environ["API_URL"], token=os.environ["API_KEY"], raise_on_unexpected_status=True)

created = create_monitor.sync_detailed(client=client, body=CreateMonitor(name="typed", keywords=["rust*"]), idempotency_key="py")
assert isinstance(created.parsed, CreatedMonitor)
monitor = created.parsed.monitor
changed = update_monitor.sync(monitor.id, client=client, body=PatchMonitor(keywords=["tea"]))
page = list_matches.sync(monitor.id, client=client, limit=5)
shown = get_monitor.sync(monitor.id, client=client)
deleted = delete_monitor.sync(monitor.id, client=client)
post = get_post.sync(client=client, id=post_id)
assert isinstance(post, PostResponse)
missing = get_monitor.sync_detailed("mon_000000000000", client=client)
wrong = search_forum.sync_detailed(client=client, q="x" * 600)
assert isinstance(missing.parsed, Error) and isinstance(wrong.parsed, Error)

print(json.dumps({
    "status": created.status_code,
    "secret": created.parsed.webhook_secret[:6],
    "warning": created.parsed.warnings[0].code,
    "posts": monitor.include_posts,
    "keywords": changed.monitor.keywords,
    "matches": len(page.items),
    "today": shown.stats.matches_today,
    "deleted": deleted.status,
    "post": post.post.name,
    "missing": [missing.status_code, missing.parsed.error.code],
    "wrong": [wrong.status_code, wrong.parsed.error.message.split(":")[0]],
}))
`;
