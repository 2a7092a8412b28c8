import { expect, test } from 'vitest';
import { faultSentence } from '../../../../../services/api/dashboard/fault-sentences.ts';
import { mailFaults, spikeFaults } from '../../../../../services/api/monitors/check-settings.ts';
import type { MonitorSettings } from '../../../../../shared/monitors/monitors.ts';
import { webhookUrlFault } from '../../../../../shared/deliveries/rules/webhook-url.ts';
import { validateTermCount } from '../../../../../shared/matching/validate-rule.ts';

const SETTINGS = { digest: 'daily', notify: 'email', webhookUrl: null } as unknown as MonitorSettings;

test.each([
  [validateTermCount([], []), ['Enter at least one keyword.']],
  [
    [true, false].map((allowHttp) => ({ field: 'webhook_url', message: webhookUrlFault('x', allowHttp)! })),
    ['Enter a URL that begins with https:// or http://.', 'Enter a URL that begins with https://.'],
  ],
  [spikeFaults(true, SETTINGS), ['This needs a webhook URL.']],
  [
    mailFaults(SETTINGS, 'demo'),
    [
      'This needs a webhook URL: no mail can be sent to the address of your account.',
      'No mail can be sent to the address of your account.',
    ],
  ],
])('%j as sentences', (faults, sentences) => {
  expect(faults.map(({ field, message }) => faultSentence(field, message))).toEqual(sentences);
});

test.each([
  ['webhook_url', 'must have at most 2048 characters', undefined, 'Webhook URL must have at most 2048 characters.'],
  ['exclude', 'must have at most 20 terms', undefined, 'Excluded terms must have at most 20 terms.'],
  ['keywords', 'must have 2 to 100 characters', 'x', '“x” must have 2 to 100 characters.'],
  ['query', 'no such column: x', undefined, 'no such column: x'],
  ['thing', 'names a comment; send the id of a post', undefined, 'names a comment; send the id of a post.'],
])('%s %s, of %j', (field, message, entry, sentence) => {
  expect(faultSentence(field, message, entry)).toBe(sentence);
});
