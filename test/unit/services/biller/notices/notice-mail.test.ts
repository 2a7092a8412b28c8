import { expect, test } from 'vitest';
import { noticeMail } from '../../../../../services/biller/notices/notice-mail.ts';
import type { NoticeFacts } from '../../../../../shared/stores/notices/notices.ts';

const mailing = {
  to: 'ada@example.com',
  foundAt: new Date('2026-03-04T05:06:07.089Z'),
  dashboardUrl: 'https://dash.example.com/forum',
};
const monitor = (number: number) => ({ id: `mon_${number}`, name: `monitor ${number}` });
const webhook = (failing: object = {}) => ({
  ...monitor(1),
  failures: 12,
  isMarked: false,
  host: 'hooks.example.net',
  status: 0,
  error: 'timeout',
  ...failing,
});

/** The text on one line. */
function textOf(facts: NoticeFacts): string {
  return noticeMail(facts, mailing).text.replaceAll(/\s+/g, ' ');
}

test.each<[NoticeFacts, string, string[]]>([
  [
    { kind: 'low_balance', balance: 1, activeMonitors: 1, readingCredits: 0 },
    'Your credits will run out soon',
    ['had 1 credit. ', 'they last about 2 hours: one running monitor takes 10 credits a day.', '/dashboard/billing'],
  ],
  [
    { kind: 'low_balance', balance: 75, activeMonitors: 2, readingCredits: 30 },
    'Your credits will run out soon',
    ['about 1.5 days: 2 running monitors take 20 credits a day, and reading took 30 in the last 24 hours.'],
  ],
  [
    { kind: 'monitor_paused', monitors: [monitor(1)], balance: 3, activeMonitors: 0 },
    'A monitor was paused',
    ['This monitor of your account', 'A paused monitor finds nothing. Add credits, then resume the monitor:'],
  ],
  [
    {
      kind: 'monitor_paused',
      monitors: Array.from({ length: 22 }, (_, n) => monitor(n)),
      balance: 3,
      activeMonitors: 2,
    },
    '22 monitors were paused',
    ['- “monitor 19” - and 2 more', '2 other monitors still run and are paused'],
  ],
  [
    { kind: 'webhook_failing', webhooks: [webhook()] },
    'A webhook is failing',
    ['12 failures in a row; the last time hooks.example.net gave no answer (timeout).', '/dashboard/monitors/mon_1 '],
  ],
  [
    { kind: 'webhook_failing', webhooks: [webhook({ status: 410, isMarked: true }), webhook({ host: null })] },
    '2 webhooks are failing',
    ['hooks.example.net answered 410.', '12 failures in a row. ', 'is marked as failing until', '/dashboard/monitors '],
  ],
  [
    { kind: 'webhook_recovered', webhooks: [{ ...monitor(1), isMarked: false }] },
    'A webhook works again',
    ['this webhook of your account at dash.example.com accepted deliveries again: - “monitor 1” Matches that'],
  ],
])('%j', (facts, subject, parts) => {
  const mail = noticeMail(facts, mailing);
  expect([mail.to, mail.subject]).toEqual(['ada@example.com', subject]);
  for (const part of [
    ...parts,
    '4 March 2026, 05:06 UTC',
    'You can switch off mails of this kind. At most one is sent a day. Sign in to change that: https://dash.example.com/forum/dashboard/account',
  ]) {
    expect(textOf(facts)).toContain(part);
  }
  expect(Math.max(...mail.text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(78);
});
