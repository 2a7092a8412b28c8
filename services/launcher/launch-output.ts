import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { styleText } from 'node:util';
import { createLogger } from '../../shared/runtime/logger.ts';

export interface LaunchOutput {
  progress: (line: string) => void;
  warn: (line: string) => void;
  ready: (installation: ReadyInstallation) => void;
}

export interface ReadyInstallation {
  /** The public address of the API, without a trailing slash. */
  baseUrl: string;
  /** The address of the dashboard, without /dashboard. */
  dashboardUrl: string;
  /** Absolute path of the demo account's key; undefined without such an account. */
  demoKeyFile: string | undefined;
  seconds: number;
}

export interface LaunchOutputDeps {
  format: 'pretty' | 'json';
  /** LOG_LEVEL. It does not apply to people, nor to the line that says where the API is. */
  level: string;
  out: (text: string) => void;
  err: (text: string) => void;
}

/** Plain text for people; otherwise JSON lines, which name only the file of the demo account's key. */
export function createLaunchOutput({ format, level, out, err }: LaunchOutputDeps): LaunchOutput {
  return format === 'pretty' ? textOutput(out, err) : logOutput(level, out);
}

function textOutput(out: LaunchOutputDeps['out'], err: LaunchOutputDeps['err']): LaunchOutput {
  return {
    progress: (line) => out(`${line}\n`),
    warn: (line) => err(`WARNING: ${line}\n`),
    ready: (installation) => out(`${banner(installation)}\n`),
  };
}

function logOutput(level: string, out: LaunchOutputDeps['out']): LaunchOutput {
  const part = { part: 'launcher' };
  const logger = createLogger(level, { write: out }).child(part);
  return {
    progress: (line) => logger.info(line),
    warn: (line) => logger.warn(line),
    ready: ({ baseUrl, dashboardUrl, demoKeyFile, seconds }) => {
      const facts = {
        api: `${baseUrl}/v1`,
        docs: `${baseUrl}/docs`,
        dashboard: `${dashboardUrl}/dashboard`,
        ...(demoKeyFile === undefined ? {} : { demo_key_file: demoKeyFile }),
        seconds: Math.round(seconds * 10) / 10,
      };
      createLogger('info', { write: out }).child(part).info(facts, 'the forum monitor is ready');
    },
  };
}

function readDemoKey(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** The path as a person would type it. */
function fromHere(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
}

/** The addresses, the key, and what to do next. */
function banner({ baseUrl, dashboardUrl, demoKeyFile, seconds }: ReadyInstallation): string {
  const demoKey = demoKeyFile === undefined ? undefined : readDemoKey(demoKeyFile);
  const facts = [
    ['API', `${baseUrl}/v1`],
    ['Documentation', `${baseUrl}/docs`],
    ['Dashboard', `${dashboardUrl}/dashboard`],
    ...(demoKey === undefined ? [] : [['Demo key', demoKey]]),
  ] as const;
  const [makeKey, email] =
    demoKeyFile === undefined || demoKey === undefined
      ? [['npm run --silent admin -- account create --email you@example.com', 'KEY=…'], 'you@example.com']
      : [[`KEY=$(cat ${fromHere(demoKeyFile)})`], 'demo@localhost'];
  const next = [
    ...makeKey,
    [
      `curl -s -X POST ${baseUrl}/v1/monitors -H "Authorization: Bearer $KEY"`,
      `  -H 'Content-Type: application/json' -d '{"name": "espresso", "keywords": ["espresso"]}'`,
    ].join(' \\\n'),
    `npm run --silent admin -- account sign-in-link --email ${email}`,
  ];
  return [
    '',
    styleText('bold', `Forum monitor is ready (${seconds.toFixed(1)} s).`),
    '',
    ...facts.map(([name, fact]) => `  ${name.padEnd(13)}  ${fact}`),
    '',
    'Next, in a second terminal: create a monitor, then open the link to watch its matches arrive.',
    '',
    ...next.map((command) => command.replaceAll(/^/gm, '  ')),
    '',
    'Ctrl-C stops everything. The next start continues with the same data.',
    '',
  ].join('\n');
}
