import type { WebhookKind } from '../../../schemas/api/monitors.ts';

const SLACK_HOSTS = new Set(['hooks.slack.com', 'hooks.slack-gov.com']);
const DISCORD_HOSTS = new Set(
  ['discord.com', 'discordapp.com'].flatMap((host) => [host, `canary.${host}`, `ptb.${host}`]),
);
const DISCORD_PATH = /^\/api\/(?:v\d+\/)?webhooks\//;

/** Detects the kind of a webhook from the host and path of its URL: a chat product, or generic. */
export function detectWebhookKind(url: URL): WebhookKind {
  const host = url.hostname.replace(/\.$/, '');
  if (SLACK_HOSTS.has(host)) return 'slack';
  if (DISCORD_HOSTS.has(host) && DISCORD_PATH.test(url.pathname)) return 'discord';
  return 'generic';
}

/** Why no message of this service could be shown at this URL of a chat product; undefined where one can. */
export function chatUrlFault(url: URL): string | undefined {
  const kind = detectWebhookKind(url);
  const { pathname } = url;
  if (kind === 'discord' && /\/webhooks\/[^/]+\/[^/]+\/(?:slack|github)\/?$/.test(pathname)) {
    return 'must not end in /slack or /github: there Discord takes messages of those services only';
  }
  if (kind === 'slack' && /^\/(?:workflows|triggers)\//.test(pathname)) {
    return 'must be an incoming webhook of Slack (/services/…): a workflow takes only its own variables';
  }
  return undefined;
}

/**
 * Whether the chosen kind is possible for this URL. Only messages of one chat product to the host of another are
 * refused: many products accept Slack's messages at their own hosts.
 */
export function fitsWebhookKind(url: URL, chosen: WebhookKind): boolean {
  const detected = detectWebhookKind(url);
  return chosen === 'generic' || detected === 'generic' || detected === chosen;
}
