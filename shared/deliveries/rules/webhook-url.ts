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
function chatUrlFault(url: URL): string | undefined {
  const kind = detectWebhookKind(url);
  const { pathname } = url;
  if (kind === 'discord' && /\/webhooks\/[^/]+\/[^/]+\/(?:slack|github)\/?$/.test(pathname)) {
    return 'must not end in /slack or /github: those Discord URLs accept only messages from those services';
  }
  if (kind === 'slack' && /^\/(?:workflows|triggers)\//.test(pathname)) {
    return 'must be a Slack incoming webhook (/services/…): a workflow accepts only its own variables';
  }
  return undefined;
}

/** Refuses messages of one chat product at the host of another: many products accept Slack's at their own. */
export function fitsWebhookKind(url: URL, chosen: WebhookKind): boolean {
  const detected = detectWebhookKind(url);
  return chosen === 'generic' || detected === 'generic' || detected === chosen;
}

const MAX_URL_LENGTH = 2_048;

/**
 * Checks the text of a webhook's URL. Returns what is wrong with it, or undefined. It does not check whether the
 * address is public.
 *
 * @param allowHttp whether http:// is accepted too (development and tests)
 */
export function webhookUrlFault(text: string, allowHttp: boolean): string | undefined {
  const schemes = allowHttp ? /^https?:\/\// : /^https:\/\//;
  // URL parsers drop white space and read backslashes as slashes. Refuse both, so that the stored URL is the called
  // URL.
  if (!schemes.test(text.toLowerCase()) || /[\s\\]/.test(text) || !URL.canParse(text)) {
    return `must be an ${allowHttp ? 'https:// or http://' : 'https://'} URL`;
  }
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password';
  return chatUrlFault(url);
}
