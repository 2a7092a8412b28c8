import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:http2';
import type { IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2';
import { request } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { setDefaultCACertificates } from 'node:tls';
import { parse } from 'yaml';
import { deliveryOf, eventOf, sessionOf } from '../support/samples/stripe-events.ts';
import { errorMessage } from '../../shared/runtime/errors.ts';
import type { Customer } from './customer.ts';
import { compose, container, podman, programs, run, stage } from './podman.ts';

/** As deploy/proxy/nginx.conf has it. */
const HOST = 'forum.example.com';
export const FORUM = `https://${HOST}`;
/** Another address of this machine, from which clients come, and what they claim to come from. */
const CLIENT = '192.0.2.10';
const CLAIMED = '198.51.100.7';
const STRIPE_SECRET = 'whsec_containers';
const PACK = 29;
const BODY_LIMIT = 256 * 1024;
/** Of Go; undefined where they could not be built. */
export const PROGRAMS = programs('neighbours');

/** The settings by which the installation knows its neighbours. */
export const SETTINGS = {
  COMPOSE_PROFILES: 'trial,observability,two-apis',
  ...{ BASE_URL: FORUM, APP_URL: FORUM, DASHBOARD_URL: FORUM, TRUST_PROXY: '1', DRAIN_SECONDS: '3' },
  ...(PROGRAMS && {
    ...{ SMTP_URL: 'smtp://mailpit:1025', SIGNUP_DNS_CHECK: '0' },
    ...{
      STRIPE_SECRET_KEY: 'sk_test_123',
      STRIPE_WEBHOOK_SECRET: STRIPE_SECRET,
      STRIPE_API_URL: 'http://stripe:12111',
    },
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_SAMPLER_ARG: '0.2' },
  }),
};

export async function startNeighbours(): Promise<void> {
  await shortenTimes('/project/deploy/prometheus');
  await run('ip', 'address', 'add', `${CLIENT}/32`, 'dev', 'lo');
  writeFileSync('/etc/hosts', `127.0.0.1 localhost ${HOST}\n`);
  mkdirSync('/tmp/tls');
  const key = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${HOST} -addext subjectAltName=DNS:${HOST}`;
  const files = '-keyout /tls/key.pem -out /tls/certificate.pem';
  const openssl = ['run', '--rm', '--volume', '/tmp/tls:/tls', '--entrypoint', 'openssl', 'localhost/proxy'];
  await podman(...openssl, ...`${key} ${files}`.split(' '));
  setDefaultCACertificates([readFileSync('/tmp/tls/certificate.pem', 'utf8')]);
  // The mock's example of a checkout has no price.
  if (PROGRAMS) {
    const fixtures = JSON.parse(readFileSync(`${PROGRAMS}/fixtures3.json`, 'utf8')) as {
      resources: Record<string, object>;
    };
    Object.assign(fixtures.resources['checkout.session']!, { amount_subtotal: PACK * 100, currency: 'usd' });
    writeFileSync('/tmp/fixtures.json', JSON.stringify(fixtures));
  }
  const programs = PROGRAMS ? ['mailpit', 'stripe', 'collector'] : [];
  await compose('up', '--detach', '--no-deps', 'proxy', 'prometheus', 'machine', ...programs);
}

/** Prometheus is given a copy of its files, in which minutes and quarters of one are seconds. */
async function shortenTimes(folder: string): Promise<void> {
  const copy = '/tmp/prometheus';
  const times = 's/_interval: [0-9]*s/_interval: 2s/g; s/for: 2m/for: 4s/';
  await run('cp', '-r', folder, copy);
  await run('sed', '-i', times, `${copy}/prometheus.yaml`, `${copy}/alerts.yaml`);
  await run('mount', '--bind', copy, folder);
}

/** All of it, once matches come. */
export async function checkNeighbours(customer: Customer): Promise<void> {
  await stage('proxy: HTTP/2, ids, bodies, compression, redirect', () => passesOn(customer));
  await stage('proxy: events of a stream', () => streams(customer));
  if (PROGRAMS) {
    const session = new Map<string, string>();
    await stage('mail: sign-up and sign-in by mailed codes, the address of clients', () => signsIn(session));
    await stage('mail: matches, and their end by one click', () => mailsMatches(customer));
    await stage('payments: a checkout, and its event twice', () => buys(customer, session));
    await stage('traces: one from the crawler to the webhook', traced);
  } else {
    console.log('skipped: mail, payments and traces (their programs could not be built)');
  }
  await stage('metrics: every query of the dashboards', queriesAnswer);
  await stage('metrics: ProcessDown fires and resolves', firesAndResolves);
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  cookies: string[];
  text: string;
}

/** A request to the proxy as a client elsewhere sends it, who claims to be somebody else. */
function ask(method: string, path: string, options: { headers?: object; body?: string } = {}): Promise<Answer> {
  const { headers, body = '' } = options;
  const own = { 'x-forwarded-for': CLAIMED, 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(`${FORUM}${path}`, { method, localAddress: CLIENT, headers: { ...own, ...headers } });
    sent.once('error', reject).once('response', (response) => {
      const chunks: Buffer[] = [];
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .once('end', () => {
          const { 'set-cookie': cookies = [], ...rest } = response.headers;
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode!, headers: rest as Record<string, string>, cookies, text });
        });
    });
    sent.end(body);
  });
}

/** @throws Error when something is not as it must be */
function must(what: string, holds: boolean, found: unknown = ''): void {
  if (!holds) throw new Error(`${what}: ${JSON.stringify(found)}`);
}

async function passesOn(customer: Customer): Promise<string> {
  const { authorization } = customer;
  const json = { authorization, 'content-type': 'application/json' };
  const known = await ask('GET', '/v1/account', { headers: { authorization, 'x-request-id': 'check-1' } });
  must("a client's request id comes back", known.headers['x-request-id'] === 'check-1', known);
  await ask('GET', '/v1/account');
  const other = await ask('GET', '/nowhere');
  must('a request id is given', other.status === 404 && (other.headers['x-request-id'] ?? '') !== '', other);

  const small = await ask('GET', '/openapi.json', { headers: { 'accept-encoding': 'gzip' } });
  const page = await ask('GET', '/dashboard/sign-in', { headers: { 'accept-encoding': 'gzip' } });
  must('JSON is compressed', small.headers['content-encoding'] === 'gzip', small.headers);
  must('pages are not compressed', page.headers['content-encoding'] === undefined, page.headers);

  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const accept = { ...json, accept: 'application/json, text/event-stream' };
  const largest = await ask('POST', '/mcp', { headers: accept, body: list.padEnd(BODY_LIMIT) });
  must('MCP, and the largest body', largest.status === 200 && largest.text.includes('"tools"'), largest.status);
  for (const [path, bytes] of [
    ['/v1/monitors', BODY_LIMIT],
    ['/mcp', BODY_LIMIT + 1],
  ] as const) {
    const refused = await ask('POST', path, { headers: accept, body: list.padEnd(bytes) });
    must('a larger body', refused.status === 413 && refused.text.includes('"payload_too_large"'), refused);
  }
  const socket = {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'a',
  };
  must('no web sockets', (await ask('GET', '/mcp', { headers: socket })).status === 405);
  const long = await ask('GET', `/v1/account?x=${'a'.repeat(40_000)}`, { headers: { authorization } });
  must('a long query reaches the API', long.text.includes('x: is not recognized'), long.status);

  const redirected = await fetch(`http://${HOST}/docs`, { redirect: 'manual' });
  must('http:// leads to https://', redirected.headers.get('location') === `${FORUM}/docs`, redirected.status);
  const session = connect(FORUM);
  const stream = session.request({ ':path': '/healthz' });
  const head = await new Promise<IncomingHttpHeaders & IncomingHttpStatusHeader>((resolve, reject) => {
    session.once('error', reject);
    stream.once('response', resolve);
  });
  must('HTTP/2', session.alpnProtocol === 'h2' && head[':status'] === 200, head);
  session.destroy();
  return `MCP, ${BODY_LIMIT / 1024} KiB accepted, more refused by the API's envelope`;
}

/** How late after their recording two matches arrive by the customer's stream. */
async function streams(customer: Customer): Promise<string> {
  const { authorization } = customer;
  const answer = await fetch(`${FORUM}/v1/monitors/${customer.monitorIds[0]}/stream`, { headers: { authorization } });
  const ages: number[] = [];
  let text = '';
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const events = text.split('\n\n');
    text = events.pop()!;
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined)
        ages.push(Date.now() - Date.parse((JSON.parse(data) as { created_at: string }).created_at));
    }
    if (ages.length > 1) break;
  }
  must('events are not held back', Math.max(...ages) < 5_000, ages);
  return `${ages.map((ms) => `${ms} ms`).join(' and ')} after the match`;
}

interface Mail {
  ID: string;
  Subject: string;
}

/** The mail that Mailpit has for somebody with such a subject: its text and its headers. */
async function mailTo(address: string, subject: RegExp): Promise<{ text: string; headers: Record<string, string[]> }> {
  const get = async <T>(path: string) => (await (await fetch(`http://127.0.0.1:8025/api/v1${path}`)).json()) as T;
  return eventually(`a mail to ${address} about ${subject.source}`, async () => {
    const found = await get<{ messages: Mail[] }>(`/search?query=${encodeURIComponent(`to:"${address}"`)}`);
    const mail = found.messages.find(({ Subject }) => subject.test(Subject));
    if (mail === undefined) return undefined;
    const { Text } = await get<{ Text: string }>(`/message/${mail.ID}`);
    return { text: Text, headers: await get<Record<string, string[]>>(`/message/${mail.ID}/headers`) };
  });
}

const codeIn = (text: string) => /\b\d{6}\b/.exec(text)![0];
const cookieOf = (session: Map<string, string>) => [...session].map(([name, value]) => `${name}=${value}`).join('; ');

/** A page of the dashboard, or a form of it with the token of that page, in one browser. */
async function visit(session: Map<string, string>, path: string, form?: { action: string; fields: object }) {
  const keep = (answer: Answer) => {
    for (const line of answer.cookies) {
      must('cookies are Secure', /; Secure/i.test(line), line);
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      session.set(name!, value!);
    }
    return answer;
  };
  const page = keep(await ask('GET', `/dashboard${path}`, { headers: { cookie: cookieOf(session) } }));
  if (form === undefined) return page;
  const token = /name="form_token" value="([^"]+)"/.exec(page.text)?.[1];
  must(`${path} has a form`, token !== undefined, page.status);
  const body = new URLSearchParams({ form_token: token!, ...form.fields }).toString();
  const type = { 'content-type': 'application/x-www-form-urlencoded', origin: FORUM };
  const headers = { ...type, cookie: cookieOf(session) };
  return keep(await ask('POST', `/dashboard${form.action}`, { headers, body }));
}

async function signsIn(session: Map<string, string>): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const post = (path: string, body: object) => ask('POST', path, { headers, body: JSON.stringify(body) });
  const agent = await post('/api/agent/signup', { email: 'agent@example.org' });
  const { signup_token } = JSON.parse(agent.text) as { signup_token: string };
  const code = codeIn((await mailTo('agent@example.org', /code/)).text);
  const opened = await post('/api/agent/verify', { signup_token, code });
  must('an account is opened', opened.status === 201, opened);

  await visit(session, '/sign-in', { action: '/sign-in', fields: { email: 'you@example.com' } });
  const mail = await mailTo('you@example.com', /code/);
  must('mails say that nobody wrote them', mail.headers['Auto-Submitted']?.[0] === 'auto-generated', mail.headers);
  const code2 = codeIn(mail.text);
  const signedIn = await visit(session, '/sign-in/code', { action: '/sign-in/code', fields: { code: code2 } });
  const to = new URL(signedIn.headers.location ?? 'http://none', FORUM);
  must('the redirect stays', signedIn.status === 303 && to.origin === FORUM, signedIn);
  must('the dashboard shows itself', (await visit(session, '/monitors')).status === 200);
  const network = await sql('SELECT DISTINCT network FROM dashboard_sessions');
  must('the address is that of the client', network === '192.0.2.0/24', network);
  return `seen as ${network} in spite of "X-Forwarded-For: ${CLAIMED}"`;
}

async function mailsMatches(customer: Customer): Promise<string> {
  const path = `/v1/monitors/${customer.monitorIds[0]}`;
  const started = performance.now();
  await customer.call('PATCH', path, { notify: 'email' });
  const { headers } = await mailTo('you@example.com', /match/);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  must('a mail ends by one click', headers['List-Unsubscribe-Post']?.[0] === 'List-Unsubscribe=One-Click', headers);
  const link = new URL(headers['List-Unsubscribe']![0]!.slice(1, -1));
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  await ask('POST', `${link.pathname}${link.search}`, { headers: type, body: 'List-Unsubscribe=One-Click' });
  const { monitor } = await customer.call<{ monitor: { notify_stopped?: string } }>('GET', path);
  must('the click ends the mails', monitor.notify_stopped === 'unsubscribed', monitor);
  return `the first one ${seconds} s after they were asked for`;
}

async function buys(customer: Customer, session: Map<string, string>): Promise<string> {
  const form = { action: '/billing/buy', fields: { pack: String(PACK) } };
  const { status, headers, text } = await visit(session, '/billing', form);
  must('a checkout is reached', status === 303 && headers.location!.startsWith('https://checkout.stripe.com/'), text);
  const row = await sql('SELECT id, account_id, session_id, credits, amount FROM payments');
  const [id, accountId, sessionId, credits, amount] = row.split('|') as [string, string, string, string, string];
  const payment = { id, accountId, sessionId, amount: Number(amount), credits: Number(credits) };
  const sold = { ...payment, pack: PACK, currency: 'usd', paymentIntent: 'pi_containers' } as const;
  const event = eventOf('checkout.session.completed', sessionOf(sold));
  const balance = async () => (await customer.call<{ balance: number }>('GET', '/v1/account')).balance;
  const before = await balance();
  for (let times = 0; times < 2; times += 1) {
    const delivered = await ask('POST', '/stripe/webhook', deliveryOf(event, { secret: STRIPE_SECRET }));
    must('the event is taken', delivered.status === 200, delivered);
  }
  const forged = await ask('POST', '/stripe/webhook', deliveryOf(event, { secret: 'whsec_other' }));
  must('a forged event is refused', forged.status === 400, forged);
  const ledger = await sql(
    `SELECT count(*), sum(amount) FROM ledger_entries WHERE account_id = '${accountId}' AND amount = ${credits}`,
  );
  must('one entry', ledger === `1|${credits}`, ledger);
  return `${credits} credits once; balance ${before} before, ${await balance()} after`;
}

interface Span {
  trace: string;
  name: string;
  service: string;
  instance: string;
}

async function traced(): Promise<string> {
  const steps = ['crawl', 'match', 'record', 'deliver'];
  return eventually('a whole trace', async () => {
    const printed = await podman('logs', container('collector'));
    const spans = printed.split('\n').map((line) => JSON.parse(line) as Span);
    const traces = Map.groupBy(spans, ({ trace }) => trace);
    const whole = [...traces.values()].find((all) => steps.every((step) => all.some(({ name }) => name === step)));
    if (whole === undefined) return undefined;
    const services = new Set(spans.map(({ service, instance }) => `${service} (${instance})`));
    return `${whole.map(({ name }) => name).join(', ')}; ${traces.size} traces of ${[...services].join(' and ')}`;
  });
}

interface Series {
  metric: Record<string, string>;
}

async function inPrometheus<T>(path: string): Promise<T> {
  const answer = await fetch(`http://127.0.0.1:9090/api/v1${path}`);
  const { data, error } = (await answer.json()) as { data: T; error?: string };
  if (error !== undefined) throw new Error(`Prometheus answers ${path} with ${error}`);
  return data;
}

/** What has no data in an installation that is well, or that has not run for long. */
const WITHOUT_DATA = parse(readFileSync('/project/test/containers/neighbours/without-data.yaml', 'utf8')) as Record<
  string,
  string[]
>;

async function queriesAnswer(): Promise<string> {
  const folder = '/project/deploy/grafana/dashboards';
  const files = (await run('ls', folder)).split('\n');
  const queries = files.flatMap((file) => {
    const { panels } = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as {
      panels: { targets?: { expr: string }[] }[];
    };
    return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  });
  const expected = new Set(Object.values(WITHOUT_DATA).flat());
  const named = [...expected].filter((query) => !queries.includes(query));
  must('queries that are named as without data are those of panels', named.length === 0, named);
  const empty = await eventually('data of every query', async () => {
    const none: string[] = [];
    for (const query of queries) {
      const { result } = await inPrometheus<{ result: Series[] }>(`/query?query=${encodeURIComponent(query)}`);
      if (result.length === 0) none.push(query);
    }
    const wrong = none.filter((query) => !expected.has(query));
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
    return none;
  });
  return `${queries.length - empty.length} of ${queries.length} have data, the others rightly none`;
}

async function firesAndResolves(): Promise<string> {
  const { groups } = await inPrometheus<{ groups: { rules: object[] }[] }>('/rules');
  const rules = groups.flatMap((group) => group.rules).length;
  const isFiring = async () => {
    const { alerts } = await inPrometheus<{ alerts: { labels: Record<string, string>; state: string }[] }>('/alerts');
    return alerts.some(({ labels, state }) => labels.alertname === 'ProcessDown' && state === 'firing');
  };
  await eventually('all processes are up', async () => !(await isFiring()) || undefined);
  const started = performance.now();
  const seconds = () => `${((performance.now() - started) / 1_000).toFixed(0)} s`;
  await podman('stop', container('api'));
  await eventually('ProcessDown fires', async () => (await isFiring()) || undefined);
  const fired = seconds();
  await podman('start', container('api'));
  await eventually('ProcessDown resolves', async () => !(await isFiring()) || undefined);
  return `${rules} rules are loaded; it fires ${fired} after the stop of an API process, and ends after ${seconds()}`;
}

const sql = (statement: string) =>
  podman('exec', container('postgres'), 'psql', '--username=forum', '--tuples-only', '--no-align', '-c', statement);

/** Waits until there is something. */
async function eventually<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 90_000;
  for (;;) {
    let fault: unknown;
    const found = await find().catch((error: unknown) => {
      fault = error;
      return undefined;
    });
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`${what} did not come: ${errorMessage(fault ?? 'there is none')}`);
    await wait(1_000);
  }
}
