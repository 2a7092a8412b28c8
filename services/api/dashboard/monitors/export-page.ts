import { EXPORT_FORMATS } from '../../../../schemas/api/matches.ts';
import type { ExportFormat, FeedAddresses } from '../../../../schemas/api/matches.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import type { Queryable } from '../../../../shared/postgres/pool.ts';
import { readFeedTokenTime } from '../../../../shared/stores/feeds/feed-tokens.ts';
import { StreamedBody } from '../../http/answer-stream.ts';
import { get, post } from '../page.ts';
import type { PageRoute, ShownPage, Visit } from '../page.ts';
import { copyable, dangerousButton, postButton, time } from '../parts.ts';
import { monitorPage, readMonitor } from './monitor-frame.ts';

/** How matches leave this service without a webhook: as files, and as a feed. */
export function exportPages(pool: Queryable): PageRoute[] {
  return [
    get('/monitors/:id/export', (visit) => show(pool, visit)),
    get('/monitors/:id/export/:format', async (visit) => {
      const query = { format: visit.params.format ?? '' };
      const { body, headers = {} } = await visit.call('get', '/v1/monitors/:id/matches/export', { query });
      if (!(body instanceof StreamedBody)) throw new Error('an export is a stream');
      return { headers, body };
    }),
    post('/monitors/:id/feed', async (visit) => {
      const { body } = await visit.call('post', '/v1/monitors/:id/feed-token');
      return show(pool, visit, addresses(body as FeedAddresses));
    }),
    post('/monitors/:id/feed/revoke', async (visit) => {
      await visit.call('delete', '/v1/monitors/:id/feed-token');
      return { redirect: `/monitors/${visit.id}/export?done=revoked` };
    }),
  ];
}

const FORMATS: Readonly<Record<ExportFormat, string>> = {
  csv: 'CSV, for spreadsheets',
  ndjson: 'JSON, a match a line',
  parquet: 'Parquet, for analysis',
};

async function show(pool: Queryable, visit: Visit, first: HtmlValue = ''): Promise<ShownPage> {
  const { name } = await readMonitor(visit);
  const file = (format: ExportFormat) => visit.path(`/monitors/${visit.id}/export/${format}`);
  return monitorPage(visit, '/export', {
    title: `Export and feed of “${name}”`,
    content: html`${first}
      <h2>Download</h2>
      <p>All matches of the last 30 days in one file, oldest first. Free, ten times in 24 hours.</p>
      <div class="actions">
        ${EXPORT_FORMATS.map(
          (format) => html`<a class="button quiet" href="${file(format)}" download>${FORMATS[format]}</a>`,
        )}
      </div>
      <h2>Feed</h2>
      ${feed(visit, await readFeedTokenTime(pool, visit.id))}`,
  });
}

function feed(visit: Visit, made: Date | undefined): Html {
  const action = `/monitors/${visit.id}/feed`;
  if (made === undefined) {
    return html`<p>
        Feed readers show the newest 50 matches by an address that needs no key. Whoever has the address can read them.
      </p>
      ${postButton(visit, { action, label: 'Make a feed' })}`;
  }
  return html`<p>The feed got its addresses ${time(made)}. They were shown only then.</p>
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

function addresses({ atom_url: atom, json_url: json }: FeedAddresses): Html {
  return html`<h2>The addresses of the feed</h2>
    <p>They are shown only now. Most readers take the first one.</p>
    ${copyable('atom-address', atom, 'the address of the Atom feed')}
    ${copyable('json-address', json, 'the address of the JSON feed')}`;
}
