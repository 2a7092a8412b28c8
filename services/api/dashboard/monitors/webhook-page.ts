import type { Monitor, MonitorDelivery } from '../../../../schemas/api/monitor.ts';
import type { TestDelivery } from '../../../../schemas/api/test-delivery.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import { problemsOf } from '../call-api.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { PageRoute, ShownPage, Visit } from '../page-route.ts';
import { codeBlock, copyable } from '../parts/copyable.ts';
import { newOnce, onceKey } from '../parts/once.ts';
import { dangerousButton, postButton } from '../parts/post-button.ts';
import { time } from '../parts/time.ts';
import { answerInWords } from './delivery-errors.ts';
import { secretShownOnce } from './edit-pages.ts';
import { monitorNavigation } from './monitor-navigation.ts';
import { deliveryInWords } from './monitor-state.ts';
import { receiverCode } from './receiver-code.ts';

type Deps = Pick<DashboardDeps, 'callApi'>;

/** A monitor's webhook: how it does, a test, its secret, and code that receives it. */
export function webhookPages(deps: Deps): PageRoute[] {
  return [
    { method: 'get', path: '/monitors/:id/webhook', handle: (visit) => show(deps, visit) },
    { method: 'post', path: '/monitors/:id/test', handle: (visit) => test(deps, visit) },
    { method: 'post', path: '/monitors/:id/rotate-secret', handle: (visit) => rotate(deps, visit) },
  ];
}

async function show({ callApi }: Deps, visit: Visit, first: HtmlValue = '', status = 200): Promise<ShownPage> {
  const id = visit.params.id ?? '';
  const { body } = await callApi(visit, 'get', '/v1/monitors/:id', { id });
  const { monitor, delivery } = body as { monitor: Monitor; delivery: MonitorDelivery };
  const { webhook_url: url, webhook_kind: kind } = monitor;
  return {
    title: `Webhook of “${monitor.name}”`,
    status,
    content: html`${monitorNavigation(visit, id, '/webhook')} ${first}
    ${url === null ? noWebhook(visit, id) : webhook(visit, monitor, delivery)}
    ${(url === null || kind === 'generic') && [secret(visit, monitor), receivers(monitor)]}`,
  };
}

function noWebhook(visit: Visit, id: string): Html {
  return html`<p>
    This monitor has no webhook. <a href="${visit.path(`/monitors/${id}/edit`)}">Enter its address</a>, and each match
    is sent to it within seconds.
  </p>`;
}

function webhook(visit: Visit, { id, webhook_url: url, webhook_kind: kind }: Monitor, delivery: MonitorDelivery): Html {
  const { pending, last_attempt_at: attempt, last_delivered_at: delivered } = delivery;
  return html`<p>Sent as ${kind} to:</p>
    ${copyable('webhook-url', url ?? '', 'the address')}
    <p>
      ${deliveryInWords(delivery)}. ${pending > 0 && `Waiting matches: ${pending.toLocaleString('en')}.`}
      ${attempt !== null && html`Last attempt ${time(attempt)}.`}
      ${delivered !== null && html`Last delivered ${time(delivered)}.`}
    </p>
    <div class="actions">
      ${postButton(visit, { action: `/monitors/${id}/test`, label: 'Send a test match' })}
      <span class="note">Free; a sample with the header X-Service-Test.</span>
    </div>`;
}

function secret(visit: Visit, { id }: Monitor): Html {
  return html`<h2>Secret</h2>
    <p>
      Webhooks are signed with a secret that was shown once. A new one takes effect at once; for 24 hours the old one
      signs as well, in <code>X-Service-Signature-Previous</code>.
    </p>
    ${dangerousButton(visit, {
      action: `/monitors/${id}/rotate-secret`,
      fields: { once: newOnce() },
      label: 'Make a new secret',
      summary: 'Replace the secret',
      consequences: 'Receivers that know only the old secret refuse webhooks from 24 hours after this on.',
    })}`;
}

function receivers({ name, webhook_url: webhookUrl }: Monitor): Html {
  return html`<h2>Code that receives it</h2>
    <p>Both verify the signature, reject stale requests, and ignore a match that arrives twice.</p>
    ${receiverCode({ name, webhookUrl }).map(
      ({ language, file, command, code }) =>
        html`<details>
          <summary>${language}</summary>
          <p>Save it as <code>${file}</code>, and run <code>${command}</code>.</p>
          ${codeBlock(file, code, `the receiver in ${language}`)}
        </details>`,
    )}`;
}

async function test({ callApi }: Deps, visit: Visit): Promise<ShownPage> {
  try {
    const { body } = await callApi(visit, 'post', '/v1/monitors/:id/test', { id: visit.params.id ?? '' });
    return await show({ callApi }, visit, testedNotice(body as TestDelivery));
  } catch (error) {
    const messages = [...problemsOf(error).values()].join('; ');
    return show({ callApi }, visit, html`<p class="notice bad" role="alert">Not sent: ${messages}</p>`, 400);
  }
}

function testedNotice({ delivered, status, error }: TestDelivery): Html {
  const answered = answerInWords(status, error);
  if (delivered) return html`<p class="notice good" role="status">${answered}. The sample was delivered.</p>`;
  return html`<p class="notice bad" role="alert">${answered}.</p>`;
}

/** A form that is sent twice makes one secret, and both answers show it. */
async function rotate({ callApi }: Deps, visit: Visit): Promise<ShownPage> {
  const { body } = await callApi(visit, 'post', '/v1/monitors/:id/rotate-secret', {
    id: visit.params.id ?? '',
    ...onceKey(visit.form, {}),
  });
  return show({ callApi }, visit, secretShownOnce((body as { webhook_secret: string }).webhook_secret));
}
