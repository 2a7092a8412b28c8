import { EXPORT_FORMATS } from '../../../../schemas/api/matches/match-export.ts';
import type { ExportFormat } from '../../../../schemas/api/matches/match-export.ts';
import type { FeedAddresses } from '../../../../schemas/api/matches/feed.ts';
import type { Monitor } from '../../../../schemas/api/monitor.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import { readFeedTokenTime } from '../../../../shared/stores/feeds/feed-tokens.ts';
import { StreamedBody } from '../../http/answer-stream.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageAnswer, PageRoute, ShownPage, Visit } from '../page-route.ts';
import { copyable } from '../parts/copyable.ts';
import { doneNotice } from '../parts/done-notice.ts';
import { dangerousButton, postButton } from '../parts/post-button.ts';
import { time } from '../parts/time.ts';
import { monitorNavigation } from './monitor-navigation.ts';

type Deps = Pick<DashboardDeps, 'callApi' | 'pool'>;

/** How matches leave this service without a webhook: as files, and as a feed. */
export function exportPages(deps: Deps): PageRoute[] {
  return [
    { method: 'get', path: '/monitors/:id/export', handle: (visit) => show(deps, visit) },
    { method: 'get', path: '/monitors/:id/export/:format', handle: (visit) => download(deps, visit) },
    { method: 'post', path: '/monitors/:id/feed', handle: (visit) => makeFeed(deps, visit) },
    { method: 'post', path: '/monitors/:id/feed/revoke', handle: (visit) => revokeFeed(deps, visit) },
  ];
}

const FORMATS: Readonly<Record<ExportFormat, string>> = {
  csv: 'CSV, for spreadsheets',
  ndjson: 'JSON, a match a line',
  parquet: 'Parquet, for analysis',
};

const DONE: ReadonlyMap<string, string> = new Map([['revoked', 'The feed is revoked. Its addresses no longer work.']]);

async function show({ callApi, pool }: Deps, visit: Visit, first: HtmlValue = ''): Promise<ShownPage> {
  const id = visit.params.id ?? '';
  const { body } = await callApi(visit, 'get', '/v1/monitors/:id', { id });
  const made = await readFeedTokenTime(pool, id);
  return {
    title: `Export and feed of “${(body as { monitor: Monitor }).monitor.name}”`,
    content: html`${monitorNavigation(visit, id, '/export')} ${doneNotice(visit, DONE)} ${first}
      <h2>Download</h2>
      <p>All matches of the last 30 days in one file, oldest first. Free, ten times in 24 hours.</p>
      <div class="actions">
        ${EXPORT_FORMATS.map(
          (format) =>
            html`<a class="button quiet" href="${visit.path(`/monitors/${id}/export/${format}`)}" download
              >${FORMATS[format]}</a
            >`,
        )}
      </div>
      <h2>Feed</h2>
      ${feed(visit, id, made)}`,
  };
}

function feed(visit: Visit, id: string, made: Date | undefined): Html {
  const action = `/monitors/${id}/feed`;
  if (made === undefined) {
    return html`<p>
        Feed readers show the newest 50 matches by an address that needs no key. Whoever has the address can read them.
      </p>
      ${postButton(visit, { action, label: 'Make a feed' })}`;
  }
  return html`<p>The feed got its addresses ${time(made.toISOString())}. They were shown only then.</p>
    ${dangerousButton(visit, {
      action,
      label: 'Make new addresses',
      summary: 'Replace the addresses',
      consequences: 'Readers that have the old addresses get nothing any more.',
    })}
    ${dangerousButton(visit, {
      action: `${action}/revoke`,
      label: 'Revoke the feed',
      summary: 'Revoke the feed',
      consequences: 'Its addresses stop working at once. New ones can be made at any time.',
    })}`;
}

async function makeFeed(deps: Deps, visit: Visit): Promise<ShownPage> {
  const { body } = await deps.callApi(visit, 'post', '/v1/monitors/:id/feed-token', { id: visit.params.id ?? '' });
  const { atom_url: atom, json_url: json } = body as FeedAddresses;
  return show(
    deps,
    visit,
    html`<h2>The addresses of the feed</h2>
      <p>They are shown only now. Most readers take the first one.</p>
      ${copyable('atom-address', atom, 'the address of the Atom feed')}
      ${copyable('json-address', json, 'the address of the JSON feed')}`,
  );
}

async function revokeFeed({ callApi }: Deps, visit: Visit): Promise<PageAnswer> {
  const id = visit.params.id ?? '';
  await callApi(visit, 'delete', '/v1/monitors/:id/feed-token', { id });
  return { redirect: `/monitors/${id}/export?done=revoked` };
}

async function download({ callApi }: Deps, visit: Visit): Promise<PageAnswer> {
  const { id = '', format = '' } = visit.params;
  const { body, headers = {} } = await callApi(visit, 'get', '/v1/monitors/:id/matches/export', {
    id,
    query: { format },
  });
  if (!(body instanceof StreamedBody)) throw new Error('an export is a stream');
  return { headers, body };
}
