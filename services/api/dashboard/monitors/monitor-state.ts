import type { Monitor, MonitorDelivery } from '../../../../schemas/api/monitor.ts';
import { answerInWords } from './delivery-errors.ts';
import { html } from '../../../../shared/html/html.ts';
import type { Html } from '../../../../shared/html/html.ts';

const STATES: Readonly<Record<Monitor['status'], string>> = {
  active: 'Running',
  paused: 'Paused',
  paused_balance: 'Paused: the credits ran out',
  deleted: 'Deleted',
};

/** What a monitor does now. */
export function stateInWords({ status }: Pick<Monitor, 'status'>): Html {
  return html`<span class="state ${status === 'active' ? 'good' : status === 'paused' ? '' : 'bad'}"
    >${STATES[status]}</span
  >`;
}

const DELIVERIES: Readonly<Record<MonitorDelivery['state'], string>> = {
  ok: 'Matches reach the webhook',
  retrying: 'The last delivery failed',
  failing: 'The webhook fails',
  none: 'No webhook: matches are only kept here',
};

/** Whether matches reach the webhook. */
export function deliveryInWords({ state, last_status: status, last_error: error }: MonitorDelivery): Html {
  const why = error === null ? '' : `. ${answerInWords(status ?? 0, error)}`;
  return html`<span class="state ${state === 'ok' || state === 'none' ? '' : 'bad'}">${DELIVERIES[state]}${why}</span>`;
}
