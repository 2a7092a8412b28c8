/** Five wrong values of each variable. Values of DATA_DIR are in the test, because they need files. */
const ADDRESSES = ['localhost', 'ftp://a.example', 'https://', 'http://a.example/#x', 'http://user:word@a.example'];
const FLAGS = ['true', 'yes', 'on', '2', '-1'];
const HOSTS = ['http://a.example', 'a.example:80', '256.1.1.1', '-a', '[::1]'];
const PORTS = ['x', '-1', '65536', '80.5', '0x50'];
const SHARES = ['x', '-1', '101', '1e1', '50 %'];
const COUNTS = ['x', '0', '-1', '1.5', '1e9'];

export const WRONG_SETTINGS: Record<string, readonly string[]> = {
  PORT: PORTS,
  HOST: HOSTS,
  METRICS_PORT: PORTS,
  METRICS_HOST: HOSTS,
  HTTP_MAX_CONNECTIONS: ['x', '9', '1000001', '10.5', ' 100'],
  BASE_URL: ADDRESSES,
  APP_URL: ADDRESSES,
  DASHBOARD_URL: ADDRESSES,
  TRUST_PROXY: ['bar', '-1', '10.0.0.0/33', '1.2.3', 'loopback, nonsense'],
  KAFKA_BROKERS: ['nowhere', 'a.example:70000', ',', 'http://a.example:9092', 'u:%zz@a.example:9092'],
  KAFKA_JARS_URL: ['repo.example/maven2', 'ftp://repo.example', 'https://', 'https://repo.example/?x=1', 'file:///m2'],
  DATABASE_URL: ['mysql://a.example/x', 'a.example', 'postgres:a', 'postgres://a b/x', 'postgres://a.example:x/y'],
  CLICKHOUSE_URL: ['a.example:8123', 'clickhouse://a.example', 'http://', 'http://a.example:0', 'http:/a.example'],
  KAFKA_TOPIC_PREFIX: ['a b', 'ä', 'a/b', 'a:b', 'x'.repeat(101)],
  SECRET_KEY: ['hunter2', '0', 'x'.repeat(31), ' '.repeat(40), `${'x'.repeat(30)}      `],
  UPSTREAM_CLIENTS: ['id', ':secret', 'id:', ',', 'id:one,id:two'],
  UPSTREAM_URL: ADDRESSES,
  UPSTREAM_TOKEN_URL: ADDRESSES,
  UPSTREAM_SITE_URL: ADDRESSES,
  UPSTREAM_USER_AGENT: [' ', 'a\nb', 'ä', ' a', 'a\tb'],
  UPSTREAM_LIVE_SHARE: SHARES,
  UPSTREAM_READING_SHARE: SHARES,
  UPSTREAM_AUDIT_SHARE: SHARES,
  CRAWL_SOURCES: ['posts', 'listing', 'post-ids;listings', 'replay:', 'replay:/nonexistent/dump.jsonl'],
  REPLAY_MOST_LAG: ['x', '0', '-1', '1.5', '1e3'],
  SIMULATOR_RATE: ['fast', '-1', '20001', '1e2', '1,5'],
  SUPPRESSED_MATCHES_PER_DAY: ['x', '-1', '10000001', '0.5', 'none'],
  WEBHOOK_ALLOW_PRIVATE: FLAGS,
  WEBHOOK_ATTEMPTS_AT_ONCE: ['x', '7', '50001', '8.5', '-8'],
  WEBHOOK_EGRESS_PROXY: ['a.example:3128', 'https://a.example', 'socks5://a.example', 'http://a.example/x', 'http://'],
  SMTP_URL: ['mail.example', 'http://mail.example', 'smtp://', 'smtp:mail.example', 'smtp://mail.example:99999'],
  MAIL_FROM: ['me', '@a.example', 'a@', 'Me <a.example>', 'a@a.example, b@a.example'],
  SIGNUP_DNS_CHECK: FLAGS,
  AGENT_SIGNUP: FLAGS,
  AGENT_SIGNUP_PER_HOUR: COUNTS,
  SIGN_IN_PER_HOUR: COUNTS,
  CODES_PER_NETWORK: COUNTS,
  LOG_LEVEL: ['loud', 'INFO', '3', 'warning', 'off'],
  FORUM_EMBEDDED: ['redis', 'all', '1', 'Kafka', 'kafka;postgres'],
};

/** Right values of TRUST_PROXY, and whether Express's own syntax allows them. */
export const TRUST_PROXY_VALUES: readonly [string, boolean][] = [
  ['true', true],
  ['false', true],
  ['2', true],
  ['loopback', true],
  ['loopback, linklocal,uniquelocal', true],
  ['10.0.0.1', true],
  ['10.0.0.0/8', true],
  ['10.0.0.0/255.0.0.0', true],
  ['::1', true],
  ['fc00::/7, 192.168.0.0/16', true],
  ['10.0.0.0/0', false],
  ['10.0.0.0/33', false],
  ['10.0.0.0/255.0.255.0', false],
  ['fc00::/129', false],
  ['10.0.0.0/8/8', false],
  ['1.2.3', false],
  ['bar', false],
  ['Loopback', false],
  ['10.0.0.1,', false],
];
