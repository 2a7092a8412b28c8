import { expect, test } from 'vitest';
import { changedWebhook, checkWebhookUrl } from '../../../../../services/api/monitors/webhook-settings.ts';

const NONE = { webhookUrl: null, webhookKind: null };
const CHOSEN = { webhookUrl: 'https://chat.example.com/x', webhookKind: 'slack' } as const;
const DISCORD_URL = 'https://discord.com/api/webhooks/1/x';

test.each([
  ['a kind without a URL', NONE, { webhook_kind: 'slack' }],
  ['a kind beside a removed URL', CHOSEN, { webhook_url: null, webhook_kind: 'slack' }],
  ['a kind of another product', NONE, { webhook_url: DISCORD_URL, webhook_kind: 'slack' }],
  [
    'a kind of another product for the URL that is there',
    { webhookUrl: DISCORD_URL, webhookKind: 'discord' },
    { webhook_kind: 'slack' },
  ],
] as const)('refuses %s, naming webhook_kind', (_name, current, change) => {
  expect(changedWebhook(current, change)).toMatchObject({ fault: { field: 'webhook_kind' } });
});

test.each([
  ['https://receiver.example/', []],
  ['https://receiver.example:8443/', []],
  ['', []],
  ['http://receiver.example/', ['must be an https:// URL']],
  ['https://receiver.example:25/', ['must not name a port of another protocol']],
  ['https://internal.example/', ['must lead to an address on the public Internet']],
])('checkWebhookUrl: %s', async (url, messages) => {
  const lookup = (name: string) => Promise.resolve([name === 'internal.example' ? '10.0.0.1' : '93.184.216.34']);
  const faults = await checkWebhookUrl(url, { allowPrivate: false, lookup });
  expect(faults).toEqual(messages.map((message) => ({ field: 'webhook_url', message })));
});
