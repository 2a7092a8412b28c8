import { expect, test } from 'vitest';
import { detectWebhookKind, fitsWebhookKind } from '../../../../../shared/domain/webhooks/webhook-kind.ts';

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
  ['https://hooks.slack.com/triggers/x', 'generic', true],
  ['https://chat.example.com/hooks/x', 'slack', true],
  ['https://discord.com/api/webhooks/1/x', 'discord', true],
] as const)('%s chosen as %s: %s', (url, chosen, fits) => {
  expect(fitsWebhookKind(new URL(url), chosen)).toBe(fits);
});
