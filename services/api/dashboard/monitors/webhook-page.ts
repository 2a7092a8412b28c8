import { readFileSync } from 'node:fs';
import type { TestDelivery } from '../../../../schemas/api/deliveries.ts';
import type { Monitor, MonitorDelivery, NotifyStopped } from '../../../../schemas/api/monitors.ts';
import { html } from '../../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../../shared/http/html.ts';
import { ApiError } from '../../http/api-error.ts';
import { attempt, get, newFormKey, NO_PROBLEMS, idempotencyKeyOf, post } from '../page.ts';
import type { PageResponse, PageRoute, ShownPage, PageRequest } from '../page.ts';
import { copyable, dangerousButton, notice, postButton, problemSummary } from '../parts.ts';
import { deliveryFields } from './delivery-fields.ts';
import type { Filling } from './delivery-fields.ts';
import { deliveryOfValues, monitorProblems, valuesOfForm, valuesOfMonitor } from './monitor-form-values.ts';
import { answerInWords, deliveryInWords, monitorPage, secretShownOnce } from './monitor-frame.ts';

/** Where a monitor's matches go: its webhook and mails, a test, the secret, and code of a receiver. */
export const webhookPages: PageRoute[] = [
  get('/monitors/:id/webhook', (request) => show(request)),
  post('/monitors/:id/webhook', change),
  post('/monitors/:id/test', test),
  // An idempotent form: sent twice, it makes one secret, and both responses show it.
  post('/monitors/:id/rotate-secret', async (request) => {
    const { body } = await request.call('post', '/v1/monitors/:id/rotate-secret', idempotencyKeyOf(request.form, {}));
    return show(request, secretShownOnce((body as { webhook_secret: string }).webhook_secret));
  }),
];

const MAILS_STOPPED: Readonly<Record<NotifyStopped, string>> = {
  bounced: 'Matches are no longer mailed: the mail server refused the address of your account.',
  unsubscribed: 'Matches are no longer mailed: the link in one of the mails was used.',
};

async function show(request: PageRequest, first: HtmlValue = '', filling?: Partial<Filling>): Promise<ShownPage> {
  const shown = await request.read('/v1/monitors/:id');
  const { monitor, delivery } = shown as { monitor: Monitor; delivery: MonitorDelivery };
  const { name, webhook_url: url, webhook_kind: kind, notify_stopped: stopped } = monitor;
  return monitorPage(request, '/webhook', {
    monitor,
    title: `Where matches of “${name}” go`,
    problems: filling?.problems ?? NO_PROBLEMS,
    content: html`${first} ${stopped !== undefined && notice('bad', MAILS_STOPPED[stopped])}
    ${url !== null && state(request, monitor, delivery)} ${deliveryForm(request, monitor, filling)}
    ${kind === 'generic' && [secret(request), receivers(monitor)]}`,
  });
}

/** @param filling a form that was refused; without one it shows what is stored */
export function deliveryForm(request: PageRequest, monitor: Monitor, filling: Partial<Filling> = {}): Html {
  const { values = valuesOfMonitor(monitor), problems = NO_PROBLEMS } = filling;
  return html`<form method="post" action="${request.path(`/monitors/${monitor.id}/webhook`)}" class="narrow">
    ${request.csrfField} ${problemSummary(problems)} ${deliveryFields({ values, problems }, request.account.email)}
    <div class="actions"><button>Save</button></div>
  </form>`;
}

async function change(request: PageRequest): Promise<PageResponse> {
  // A form without its fields would remove all that it does not hold.
  if (!request.form.has('webhook_url')) throw new ApiError('invalid_request', 'webhook_url: is missing.');
  const values = valuesOfForm(request.form);
  try {
    await request.call('patch', '/v1/monitors/:id', { body: deliveryOfValues(values) });
    return { redirect: `/monitors/${request.id}/webhook?done=delivery` };
  } catch (error) {
    return show(request, '', { values, problems: monitorProblems(error, values) });
  }
}

function state(request: PageRequest, { id }: Monitor, delivery: MonitorDelivery): Html {
  const words = deliveryInWords(delivery);
  const actions = html`${postButton(request, { action: `/monitors/${id}/test`, label: 'Send a test match' })}
    <a class="button quiet" href="${request.path(`/monitors/${id}/deliveries`)}">View deliveries</a>
    <span class="note">The test is free. It has the header X-Service-Test.</span>`;
  if (delivery.state === 'failing') return notice('bad', words, actions);
  return html`<p>${words}</p>
    <div class="actions">${actions}</div>`;
}

function secret(request: PageRequest): Html {
  return html`<h2>Secret</h2>
    <p>
      Receivers verify webhooks with the secret of this monitor. It is shown only once: when the monitor is created, or
      when you replace it here. A new secret signs immediately. For 24 hours, the old one also signs, in
      <code>X-Service-Signature-Previous</code>.
    </p>
    ${dangerousButton(request, {
      action: `/monitors/${request.id}/rotate-secret`,
      fields: { once: newFormKey() },
      label: 'Create a new secret',
      summary: 'Replace the secret',
      consequences: 'After 24 hours, receivers that know only the old secret will reject webhooks.',
    })}`;
}

async function test(request: PageRequest): Promise<ShownPage> {
  const { value, problems } = await attempt(request.call('post', '/v1/monitors/:id/test'));
  if (value === undefined) {
    return show(request, notice('bad', `Not sent: ${[...problems.values()].join('; ')}`), { problems });
  }
  const { delivered, status, error } = value.body as TestDelivery;
  const answered = `${answerInWords(status, error)}.`;
  return show(request, delivered ? notice('good', `${answered} The sample was delivered.`) : notice('bad', answered));
}

const textOf = (file: string): string => readFileSync(new URL(`../assets/${file}.txt`, import.meta.url), 'utf8');

/** As in the guide to webhooks, whose example a test runs. */
const LIBRARY = textOf('library-node');

const RECEIVERS = [
  { language: 'Node', file: 'receiver.mjs', command: 'node receiver.mjs', comment: '//' },
  { language: 'Python', file: 'receiver.py', command: 'python3 receiver.py', comment: '#' },
].map((of) => ({
  ...of,
  code: textOf(`receiver-${of.language.toLowerCase()}`),
}));

function receivers({ name, webhook_url: webhookUrl }: Monitor): Html {
  return html`<h2>Receiver code</h2>
    <p>
      Deliveries follow <a href="https://www.standardwebhooks.com" rel="noopener noreferrer">Standard Webhooks</a>, so
      its libraries verify them: pass the raw body and the headers.
    </p>
    ${copyable('library', LIBRARY, 'the verification in Node', true)}
    <p>
      Without a library: both programs verify the signature, reject old requests, and ignore a match that arrives twice.
    </p>
    ${receiverCode({ name, webhookUrl }).map(
      ({ language, file, command, code }) =>
        html`<details>
          <summary>${language}</summary>
          <p>Save it as <code>${file}</code> and run <code>WEBHOOK_SECRET=whsec_… ${command}</code>.</p>
          ${copyable(file, code, `the receiver in ${language}`, true)}
        </details>`,
    )}`;
}

/** The examples of the documentation, which tests run, with the monitor's name and address. */
export function receiverCode({ name, webhookUrl }: { name: string; webhookUrl: string | null }) {
  // The path of a webhook may be a secret.
  const host = webhookUrl === null ? undefined : URL.parse(webhookUrl)?.host;
  // A line break in the name would end the comment.
  const about = `Receives the matches of ${name}${host === undefined ? '' : ` at ${host}`}`.replace(
    /[\p{C}\u2028\u2029]/gu,
    ' ',
  );
  return RECEIVERS.map(({ comment, code, ...of }) => ({ ...of, code: `${comment} ${about}\n${code}` }));
}
