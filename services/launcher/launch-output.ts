import { readFileSync } from 'node:fs';
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
  isTerminal: boolean;
  /** LOG_LEVEL. It does not apply to a terminal, nor to the line that says where the API is. */
  level: string;
  out: (text: string) => void;
  err: (text: string) => void;
}

/** Plain text for a terminal; otherwise JSON lines, which name only the file of the demo account's key. */
export function createLaunchOutput({ isTerminal, level, out, err }: LaunchOutputDeps): LaunchOutput {
  return isTerminal ? terminalOutput(out, err) : logOutput(level, out);
}

function terminalOutput(out: LaunchOutputDeps['out'], err: LaunchOutputDeps['err']): LaunchOutput {
  return {
    progress: (line) => out(`${line}\n`),
    warn: (line) => err(`WARNING: ${line}\n`),
    ready: ({ baseUrl, dashboardUrl, demoKeyFile, seconds }) => {
      const key = demoKeyFile === undefined ? undefined : readDemoKey(demoKeyFile);
      out(`${banner({ baseUrl, dashboardUrl }, key, seconds)}\n`);
    },
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

const SIGN_IN = [
  'Sign in to the dashboard with any address (its mail is written to the data directory), or as the demo account:',
  '  npm run --silent admin -- account sign-in-link --email demo@localhost',
].join('\n');

function banner(
  { baseUrl, dashboardUrl }: { baseUrl: string; dashboardUrl: string },
  demoKey: string | undefined,
  seconds: number,
): string {
  const body = `'{"name":"rust","keywords":["rust"]}'`;
  const key = demoKey ?? 'YOUR_KEY';
  return [
    '',
    `The forum monitor is ready (${seconds.toFixed(1)} s).`,
    `  API       ${baseUrl}/v1`,
    `  docs      ${baseUrl}/docs`,
    `  dashboard ${dashboardUrl}/dashboard`,
    demoKey === undefined
      ? '  key       npm run --silent admin -- account create --email you@example.com'
      : `  demo key  ${demoKey}`,
    '',
    ...(demoKey === undefined ? [] : [SIGN_IN, '']),
    'Create a monitor:',
    `  curl -s -X POST ${baseUrl}/v1/monitors -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d ${body}`,
    '',
  ].join('\n');
}
