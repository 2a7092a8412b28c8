import { parseEmailAddress } from '../../../../shared/accounts/rules/mailbox.ts';
import { html } from '../../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../../shared/http/html.ts';
import type { FieldProblems } from '../page.ts';
import { checkbox, field, select } from '../parts.ts';
import type { MonitorFormValues } from './monitor-form-values.ts';

/** What a form shows: the values of its fields, and what is wrong with them. */
export interface Filling {
  values: MonitorFormValues;
  problems: FieldProblems;
}

export type TextName = {
  [Name in keyof MonitorFormValues]: MonitorFormValues[Name] extends string ? Name : never;
}[keyof MonitorFormValues];

export function of({ values, problems }: Filling, name: TextName) {
  return { name, value: values[name], problem: problems.get(name) };
}

export function problemOf({ problems }: Filling, name: string): HtmlValue {
  return problems.has(name) && html`<p class="problem">${problems.get(name)}</p>`;
}

/** Where matches go: of a form that creates a monitor, and of the page that changes it. */
/** @param email the address of the account */
export function deliveryFields(form: Filling, email: string): Html {
  const { values, problems } = form;
  const isOpen =
    values.digest !== '' ||
    values.spike_webhook ||
    values.webhook_kind !== '' ||
    ['webhook_kind', 'digest', 'spike_webhook'].some((name) => problems.has(name));
  return html`${field({
      ...of(form, 'webhook_url'),
      label: 'Webhook URL',
      // Not of type url: the API says what is wrong with an address.
      hint: 'Optional. It starts with https://.',
    })}
    ${WEBHOOK_STEPS}
    ${checkbox('notify', 'Mail me: the first match immediately, then at most one mail every five minutes', values.notify)}
    ${
      parseEmailAddress(email) === undefined &&
      html`<p class="hint">Your account has the address ${email}, to which no mail can be sent.</p>`
    }
    ${problemOf(form, 'notify')}
    <details ${isOpen && html`open`}>
      <summary>Digests, spikes and the kind of webhook</summary>
      ${select({ ...of(form, 'digest'), label: 'When to send matches', options: DIGESTS })}
      ${select({ ...of(form, 'webhook_kind'), label: 'Kind of webhook', options: WEBHOOK_KINDS })}
      ${checkbox('spike_webhook', 'Notify the webhook about spikes: hours with unusually many matches', values.spike_webhook)}
      ${problemOf(form, 'spike_webhook')}
    </details>`;
}

const WEBHOOK_STEPS = html`<details>
    <summary>How to get the URL of a Slack channel</summary>
    <ol>
      <li>
        Open <a href="https://api.slack.com/apps" rel="noopener noreferrer">api.slack.com/apps</a> and choose “Create
        New App”, “From scratch”. Name it and choose your workspace.
      </li>
      <li>Choose “Incoming Webhooks” on the left, and switch “Activate Incoming Webhooks” on.</li>
      <li>Choose “Add New Webhook to Workspace” at the bottom, then the channel, then “Allow”.</li>
      <li>Copy the URL, which begins with <code>https://hooks.slack.com/services/</code>, and paste it above.</li>
    </ol>
  </details>
  <details>
    <summary>How to get the URL of a Discord channel</summary>
    <ol>
      <li>Open “Server Settings” of your server, then “Integrations”. You need the permission “Manage Webhooks”.</li>
      <li>Choose “Webhooks”, then “New Webhook”, and click on the one that appears.</li>
      <li>Name it and choose its channel.</li>
      <li>
        Choose “Copy Webhook URL”. It begins with <code>https://discord.com/api/webhooks/</code>. Paste it above, and
        save the changes in Discord.
      </li>
    </ol>
  </details>`;

const WEBHOOK_KINDS = [
  ['', 'Detect it from the URL'],
  ['generic', 'Generic: signed JSON'],
  ['slack', 'Slack'],
  ['discord', 'Discord'],
] as const;
const DIGESTS = [
  ['', 'Immediately, one by one, to the webhook'],
  ['hourly', 'Together every hour, to the webhook or, without one, by mail'],
  ['daily', 'Together every midnight (UTC), to the webhook or, without one, by mail'],
] as const;
