import { readFileSync } from 'node:fs';
import type { Monitor, MonitorDelivery } from '../../../../schemas/api/monitors.ts';
import type { TestDelivery } from '../../../../schemas/api/deliveries.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html, HtmlValue } from '../../../../shared/html/html.ts';
import { get, newOnce, NO_PROBLEMS, onceKey, post, problemsOf } from '../page.ts';
import type { PageRoute, ShownPage, Visit } from '../page.ts';
import { copyable, dangerousButton, notice, number, postButton, time } from '../parts.ts';
import { answerInWords, deliveryInWords, monitorPage, secretShownOnce } from './monitor-frame.ts';

/** A monitor's webhook: how it does, a test, its secret, and code that receives it. */
export const webhookPages: PageRoute[] = [
  get('/monitors/:id/webhook', (visit) => show(visit)),
  post('/monitors/:id/test', test),
  // A form that is sent twice makes one secret, and both answers show it.
  post('/monitors/:id/rotate-secret', async (visit) => {
    const { body } = await visit.call('post', '/v1/monitors/:id/rotate-secret', onceKey(visit.form, {}));
    return show(visit, secretShownOnce((body as { webhook_secret: string }).webhook_secret));
  }),
];

async function show(visit: Visit, first: HtmlValue = '', problems = NO_PROBLEMS): Promise<ShownPage> {
  const shown = await visit.read('/v1/monitors/:id');
  const { monitor, delivery } = shown as { monitor: Monitor; delivery: MonitorDelivery };
  const { name, webhook_url: url, webhook_kind: kind } = monitor;
  return monitorPage(visit, '/webhook', {
    title: `Webhook of “${name}”`,
    problems,
    content: html`${first} ${url === null ? noWebhook(visit) : webhook(visit, monitor, delivery)}
    ${(url === null || kind === 'generic') && [secret(visit), receivers(monitor)]}`,
  });
}

function noWebhook({ id, path }: Visit): Html {
  return html`<p>
    This monitor has no webhook. <a href="${path(`/monitors/${id}/edit`)}">Enter its address</a>, and each match is sent
    to it within seconds.
  </p>`;
}

function webhook(visit: Visit, { id, webhook_url: url, webhook_kind: kind }: Monitor, delivery: MonitorDelivery): Html {
  const { pending, last_attempt_at: attempt, last_delivered_at: delivered } = delivery;
  return html`<p>Sent as ${kind} to:</p>
    ${copyable('webhook-url', url ?? '', 'the address')}
    <p>
      ${deliveryInWords(delivery)}. ${pending > 0 && `Waiting matches: ${number(pending)}.`}
      ${attempt !== null && html`Last attempt ${time(attempt)}.`}
      ${delivered !== null && html`Last delivered ${time(delivered)}.`}
    </p>
    <div class="actions">
      ${postButton(visit, { action: `/monitors/${id}/test`, label: 'Send a test match' })}
      <span class="note">Free; a sample with the header X-Service-Test.</span>
    </div>`;
}

function secret(visit: Visit): Html {
  return html`<h2>Secret</h2>
    <p>
      Webhooks are signed with a secret that was shown once. A new one takes effect at once; for 24 hours the old one
      signs as well, in <code>X-Service-Signature-Previous</code>.
    </p>
    ${dangerousButton(visit, {
      action: `/monitors/${visit.id}/rotate-secret`,
      fields: { once: newOnce() },
      label: 'Make a new secret',
      summary: 'Replace the secret',
      consequences: 'Receivers that know only the old secret refuse webhooks from 24 hours after this on.',
    })}`;
}

async function test(visit: Visit): Promise<ShownPage> {
  try {
    const { body } = await visit.call('post', '/v1/monitors/:id/test');
    const { delivered, status, error } = body as TestDelivery;
    const answered = `${answerInWords(status, error)}.`;
    return await show(
      visit,
      delivered ? notice('good', `${answered} The sample was delivered.`) : notice('bad', answered),
    );
  } catch (error) {
    const problems = problemsOf(error);
    return show(visit, notice('bad', `Not sent: ${[...problems.values()].join('; ')}`), problems);
  }
}

const RECEIVERS = [
  { language: 'Node', file: 'receiver.mjs', command: 'node receiver.mjs', comment: '//' },
  { language: 'Python', file: 'receiver.py', command: 'python3 receiver.py', comment: '#' },
].map((of) => ({
  ...of,
  code: readFileSync(new URL(`../assets/receiver-${of.language.toLowerCase()}.txt`, import.meta.url), 'utf8'),
}));

function receivers({ name, webhook_url: webhookUrl }: Monitor): Html {
  return html`<h2>Code that receives it</h2>
    <p>Both verify the signature, reject stale requests, and ignore a match that arrives twice.</p>
    ${receiverCode({ name, webhookUrl }).map(
      ({ language, file, command, code }) =>
        html`<details>
          <summary>${language}</summary>
          <p>Save it as <code>${file}</code>, and run <code>WEBHOOK_SECRET=whsec_… ${command}</code>.</p>
          ${copyable(file, code, `the receiver in ${language}`, true)}
        </details>`,
    )}`;
}

/**
 * Programs that receive the webhooks of a monitor on port 9000 and verify their signatures: the examples of the
 * documentation, which tests run, with the monitor's name and address.
 */
export function receiverCode({ name, webhookUrl }: { name: string; webhookUrl: string | null }) {
  // The path of a webhook may be a secret.
  const host = webhookUrl === null ? undefined : URL.parse(webhookUrl)?.host;
  // So that no name ends the comment that it stands in.
  const about = `Receives the matches of ${name}${host === undefined ? '' : ` at ${host}`}`.replace(
    /[\p{C}\u2028\u2029]/gu,
    ' ',
  );
  return RECEIVERS.map(({ comment, code, ...of }) => ({ ...of, code: `${comment} ${about}\n${code}` }));
}
