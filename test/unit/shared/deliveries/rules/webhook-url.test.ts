import { expect, test } from 'vitest';
import {
  detectWebhookKind,
  fitsWebhookKind,
  webhookUrlFault,
} from '../../../../../shared/deliveries/rules/webhook-url.ts';

test.each([
  ['https://hooks.slack.com/services/T0/B0/x', 'slack'],
  ['https://HOOKS.slack.com./services/T0/B0/x', 'slack'],
  ['https://discord.com/api/webhooks/1/x', 'discord'],
  ['https://discordapp.com/api/webhooks/1/x', 'discord'],
  ['https://canary.discord.com/api/webhooks/1/x', 'discord'],
  ['https://ptb.discord.com/api/v10/webhooks/1/x', 'discord'],
  ['https://discord.com/channels/1', 'generic'],
  ['https://discord.com/api/webhooksx/1', 'generic'],
  ['https://evil.discord.com/api/webhooks/1/x', 'generic'],
  ['https://hooks.slack.com.example.org/services/x', 'generic'],
  ['https://example.com/hooks.slack.com', 'generic'],
] as const)('%s is %s', (url, kind) => {
  expect(detectWebhookKind(new URL(url))).toBe(kind);
});

test.each([
  ['https://hooks.slack.com/services/x', 'discord', false],
  ['https://discord.com/api/webhooks/1/x', 'slack', false],
  ['https://chat.example.com/hooks/x', 'slack', true],
  ['https://discord.com/api/webhooks/1/x', 'discord', true],
] as const)('%s chosen as %s: %s', (url, chosen, fits) => {
  expect(fitsWebhookKind(new URL(url), chosen)).toBe(fits);
});

const DISCORD_FAULT = 'must not end in /slack or /github: those Discord URLs accept only messages from those services';
const SLACK_FAULT = 'must be a Slack incoming webhook (/services/…): a workflow accepts only its own variables';

test.each([
  ['https://example.com/x', false, undefined],
  ['HTTPS://example.com', false, undefined],
  ['http://example.com', true, undefined],
  ['http://example.com', false, 'must be an https:// URL'],
  ['ftp://example.com', true, 'must be an https:// or http:// URL'],
  ['example.com', false, 'must be an https:// URL'],
  ['https://', false, 'must be an https:// URL'],
  ['https:\\\\example.com', false, 'must be an https:// URL'],
  [' https://example.com', false, 'must be an https:// URL'],
  ['https://exa\nmple.com', false, 'must be an https:// URL'],
  ['https://user@example.com', false, 'must not contain a user name or a password'],
  ['https://:pw@example.com', false, 'must not contain a user name or a password'],
  [`https://example.com/${'x'.repeat(2_048)}`, false, 'must have at most 2048 characters'],
  ['https://discord.com/api/webhooks/1/x', false, undefined],
  ['https://discord.com/api/webhooks/1/slack', false, undefined],
  ['https://discord.com/api/webhooks/1/x/slack', false, DISCORD_FAULT],
  ['https://ptb.discord.com/api/v10/webhooks/1/x/github/', false, DISCORD_FAULT],
  ['https://hooks.slack.com/triggers/T0/1/x', false, SLACK_FAULT],
  ['https://hooks.slack.com/workflows/T0/1/x', false, SLACK_FAULT],
] as const)('the URL %j, http allowed %s: %s', (url, allowHttp, fault) => {
  expect(webhookUrlFault(url, allowHttp)).toBe(fault);
});
