import ipaddr from 'ipaddr.js';
import { isLoopback } from '../../shared/http/public-address.ts';
import { parseBrokers } from '../../shared/kafka/broker-list.ts';
import { requiresTls } from '../../shared/mail/mailer.ts';
import { addressesOf, transportSecurity } from '../../shared/postgres/postgres-servers.ts';
import type { TransportSecurity } from '../../shared/postgres/postgres-servers.ts';
import type { Config } from '../../shared/runtime/config.ts';

export function startWarnings(config: Config): string[] {
  return [...settingWarnings(config), ...clearTextWarnings(config), ...secretWarnings(config)];
}

function settingWarnings(config: Config): string[] {
  const { webhooks, http, secretKey, secretKeyPrevious, postgresUrl, payments, mail } = config;
  const warnings: string[] = [];
  if (mail.smtpUrl === undefined && isFar(new URL(http.baseUrl).hostname)) {
    warnings.push('SMTP_URL is unset: nobody gets a code to sign up with. Mails are files in DATA_DIR/outbox.');
  }
  if (webhooks.allowPrivate) {
    warnings.push(
      'WEBHOOK_ALLOW_PRIVATE=1: any account can make this machine send requests to private addresses. Use it for development and tests only.',
    );
  }
  if (http.trustProxy === 'true') {
    warnings.push(
      'TRUST_PROXY=true: any client can forge the address that rate limits use. Set the addresses of the proxies, or their number.',
    );
  }
  if (payments?.mode === 'test') {
    warnings.push(
      'STRIPE_SECRET_KEY is a test key: packs are sold without money. What is bought is taken back at the first start with a live key.',
    );
  }
  if (secretKey === undefined && postgresUrl !== undefined) {
    warnings.push(
      'SECRET_KEY is unset: the key that encrypts secrets is stored in the same database as the secrets. Set SECRET_KEY.',
    );
  }
  if (secretKeyPrevious !== undefined) {
    warnings.push(
      'SECRET_KEY_PREVIOUS is set: both keys open the secrets. Once no process seals with it, run "admin secrets reseal" and unset it.',
    );
  }
  return warnings;
}

/** What travels unencrypted beyond this host and its own network. */
function clearTextWarnings({ http, kafka, postgresUrl, clickhouseUrl }: Config): string[] {
  const warnings: string[] = [];
  const base = new URL(http.baseUrl);
  if (base.protocol === 'http:' && isFar(base.hostname)) {
    warnings.push('BASE_URL is http: API keys travel unencrypted. Put a proxy with a certificate in front.');
  }
  const { brokers, sasl } = parseBrokers(kafka.brokers ?? []);
  if (sasl && kafka.security.tls === undefined && brokers.some((broker) => isFar(broker.replace(/:\d+$/, '')))) {
    warnings.push('KAFKA_BROKERS: data travels unencrypted, and with plain the password. Set KAFKA_TLS=1.');
  }
  const security = postgresUrl === undefined ? undefined : securityOfFar(postgresUrl);
  if (security === 'none') warnings.push('DATABASE_URL: data travels unencrypted. Use sslmode=verify-full.');
  if (security === 'unverified') {
    warnings.push(
      'DATABASE_URL: the certificate of the server is not verified, so another one may take its place. Use sslmode=verify-full, with sslrootcert=FILE for an authority of your own.',
    );
  }
  const clickhouse = clickhouseUrl === undefined ? undefined : new URL(clickhouseUrl);
  if (clickhouse?.protocol === 'http:' && isOpenPassword(clickhouse)) {
    warnings.push('CLICKHOUSE_URL is http: the password travels unencrypted. Use https.');
  }
  return warnings;
}

/** Secrets of third parties and codes that are sent unencrypted beyond this host. */
function secretWarnings({ upstream, payments, mail }: Config): string[] {
  const warnings: string[] = [];
  const smtp = mail.smtpUrl === undefined ? undefined : new URL(mail.smtpUrl);
  if (smtp?.protocol === 'smtp:' && !isLoopback(smtp.hostname) && !requiresTls(smtp)) {
    warnings.push(
      'SMTP_URL requires no encryption: codes to sign in may travel unencrypted. Use smtps, or add ?requireTLS=true.',
    );
  }
  if (upstream.clients !== undefined && isOpen(upstream.tokenUrl)) {
    warnings.push('UPSTREAM_TOKEN_URL is http: the secrets of UPSTREAM_CLIENTS travel unencrypted. Use https.');
  }
  if (upstream.clients !== undefined && isOpen(upstream.url)) {
    warnings.push('UPSTREAM_URL is http: the access tokens of the forum travel unencrypted. Use https.');
  }
  if (payments?.apiUrl !== undefined && isOpen(payments.apiUrl)) {
    warnings.push('STRIPE_API_URL is http: STRIPE_SECRET_KEY travels unencrypted. Use https, or unset it.');
  }
  return warnings;
}

/** How the connections to a database on another host are protected; undefined when it is near or has no password. */
function securityOfFar(postgresUrl: string): TransportSecurity | undefined {
  const addresses = addressesOf(postgresUrl).map((address) => new URL(address));
  // All have the same options.
  return addresses.some(isOpenPassword) ? transportSecurity(addresses[0]!) : undefined;
}

function isOpen(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !isLoopback(hostname);
}

function isOpenPassword({ password, hostname }: URL): boolean {
  return password !== '' && isFar(hostname);
}

/** Names without a dot and those of a cluster are of its own network, as private addresses are. */
function isFar(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(bare)) return ipaddr.process(bare).range() === 'unicast';
  return bare.includes('.') && !/\.(svc|local|internal|localhost)(\.|$)/.test(bare);
}
