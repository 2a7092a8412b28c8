import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { styleText } from 'node:util';
import { createLogger } from '../../shared/runtime/logger.ts';
import { hasColors, logFormatOf } from '../../shared/runtime/pretty-log.ts';
import type { LogFormat, LogTarget } from '../../shared/runtime/pretty-log.ts';
import { printable } from '../../shared/runtime/printable.ts';

export interface LaunchOutput {
  /** What the start does now. People read it where that takes longer than a second; a log does not have it. */
  step: (line: string) => void;
  progress: (line: string) => void;
  /** Only a log has it. */
  note: (line: string) => void;
  warn: (line: string) => void;
  ready: (installation: ReadyInstallation) => void;
  /** Whether people read it, who want to know of the services only what is wrong. */
  isPretty: boolean;
}

export interface ReadyInstallation {
  /** The public address of the API, without a trailing slash. */
  baseUrl: string;
  /** The address of the dashboard, without /dashboard. */
  dashboardUrl: string;
  metricsUrl: string;
  dataDir: string;
  /** Absolute path of the demo account's key; undefined without such an account. */
  demoKeyFile: string | undefined;
  seconds: number;
}

export interface LaunchOutputDeps {
  format: LogFormat | undefined;
  /** LOG_LEVEL. It does not apply to text for people, nor to the line that says where the API is. */
  level: string;
  out: LogTarget;
  err: (text: string) => void;
}

/** Text for people, with the demo account's key in a terminal; or JSON lines, which name only the file of the key. */
export function createLaunchOutput({ format, level, out, err }: LaunchOutputDeps): LaunchOutput {
  return logFormatOf(format, out) === 'pretty' ? prettyOutput(out, err) : logOutput(level, out);
}

const LONG_MS = 1_000;

function prettyOutput(out: LogTarget, err: LaunchOutputDeps['err']): LaunchOutput {
  const colors = hasColors(out);
  const paint: Paint = (style, text) => (colors ? styleText(style, text, { validateStream: false }) : text);
  let timer: NodeJS.Timeout | undefined;
  const progress = (line: string) =>
    void out.write(`${paint('dim', printable(line.charAt(0).toUpperCase() + line.slice(1)))}\n`);
  return {
    step: (line) => {
      clearTimeout(timer);
      timer = setTimeout(progress, LONG_MS, line).unref();
    },
    progress,
    note: () => undefined,
    warn: (line) => err(`${paint('yellow', 'WARNING:')} ${printable(line)}\n`),
    ready: (installation) => {
      clearTimeout(timer);
      out.write(banner(installation, out.isTTY === true, paint));
    },
    isPretty: true,
  };
}

function logOutput(level: string, out: LogTarget): LaunchOutput {
  const part = { part: 'launcher' };
  const destination = { write: (line: string) => void out.write(line) };
  const logger = createLogger(level, destination).child(part);
  const info = (line: string) => logger.info(line);
  return {
    step: () => undefined,
    progress: info,
    note: info,
    warn: (line) => logger.warn(line),
    ready: ({ baseUrl, dashboardUrl, demoKeyFile, seconds }) => {
      const facts = {
        api: `${baseUrl}/v1`,
        docs: `${baseUrl}/docs`,
        dashboard: `${dashboardUrl}/dashboard`,
        ...(demoKeyFile === undefined ? {} : { demo_key_file: demoKeyFile }),
        seconds: Math.round(seconds * 10) / 10,
      };
      createLogger('info', destination).child(part).info(facts, 'the forum monitor is ready');
    },
    isPretty: false,
  };
}

function readDemoKey(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

type Paint = (style: 'bold' | 'dim' | 'yellow' | 'cyan', text: string) => string;

/** @param showsKey false where others may keep what is written */
function banner(installation: ReadyInstallation, showsKey: boolean, paint: Paint): string {
  const { baseUrl, dashboardUrl, metricsUrl, demoKeyFile, seconds } = installation;
  const demoKey = demoKeyFile === undefined ? undefined : showsKey ? readDemoKey(demoKeyFile) : `in ${demoKeyFile}`;
  const row = (name: string, value: string) => `  ${paint('dim', name.padEnd(10))} ${value}`;
  return [
    '',
    `${paint('bold', 'The forum monitor is ready')} ${paint('dim', `(${seconds.toFixed(1)} s). Ctrl-C stops it.`)}`,
    '',
    row('API', `${baseUrl}/v1`),
    row('Docs', `${baseUrl}/docs`),
    row('Dashboard', `${dashboardUrl}/dashboard`),
    row('Metrics', `${metricsUrl}/metrics`),
    ...(demoKey === undefined ? [] : [row('Demo key', demoKey)]),
    '',
    'Next, in a second terminal in this folder:',
    ...nextCommands(installation).flatMap(([purpose, command]) => [
      '',
      `  ${paint('dim', `# ${purpose}`)}`,
      ...command.map((line) => `  ${paint('cyan', line)}`),
    ]),
    '',
    '',
  ].join('\n');
}

const RULE = '{"name": "espresso", "keywords": ["espresso"]}';

function nextCommands({ baseUrl, demoKeyFile, dataDir }: ReadyInstallation): [purpose: string, command: string[]][] {
  const isUsual = dataDir === resolve('.data');
  const admin = `${isUsual ? '' : `DATA_DIR=${quoted(dataDir)} `}npm run --silent admin --`;
  const key =
    demoKeyFile === undefined ? 'YOUR_KEY' : `$(cat ${quoted(isUsual ? relative('', demoKeyFile) : demoKeyFile)})`;
  const header = `-H "Authorization: Bearer ${key}"`;
  const create = [
    `curl -s -X POST ${baseUrl}/v1/monitors \\`,
    `  ${header} -H 'Content-Type: application/json' \\`,
    `  -d '${RULE}'`,
  ];
  if (demoKeyFile === undefined) {
    return [
      ['Open an account', [`${admin} account create --email you@example.com`]],
      ['Watch for words', create],
      ['Search the forum', [`curl -s '${baseUrl}/v1/forum/search?q=coffee&limit=3' ${header}`]],
    ];
  }
  return [
    ['Watch for words', create],
    ['See the matches in the dashboard: open the link', [`${admin} account sign-in-link --email demo@localhost`]],
    ['Search the forum', [`curl -s '${baseUrl}/v1/forum/search?q=coffee&limit=3' ${header}`]],
  ];
}

function quoted(path: string): string {
  return /^[\w./@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
