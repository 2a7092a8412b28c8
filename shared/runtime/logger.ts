import { styleText } from 'node:util';
import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import { errorCode } from './errors.ts';

export type { Logger };

/** Never logged, down to two levels below the top. A chat webhook's URL is a secret: log its host instead. */
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'apiKey',
  'api_key',
  'key',
  'secret',
  'webhookSecret',
  'webhook_secret',
  'webhookUrl',
  'webhook_url',
  'token',
  'accessToken',
  'access_token',
  'code',
  'password',
  'secretKey',
  'secretKeyPrevious',
  'previousKeys',
  'webhookSecrets',
  '["x-api-key"]',
  '["X-Api-Key"]',
];

/** JSON lines on stdout (or to `destination`), with secrets redacted. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const nested = SECRET_FIELDS.flatMap((field) =>
    field.startsWith('[') ? [field, `*${field}`, `*.*${field}`] : [field, `*.${field}`, `*.*.${field}`],
  );
  const options = {
    level,
    base: { pid: process.pid },
    redact: { paths: nested, censor: '[redacted]' },
    serializers: { err: serializeError, error: serializeError },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** What each line has, or what is written before its message. */
const NOT_FIELDS = new Set(['level', 'time', 'pid', 'msg', 'service', 'part', 'err']);
const COLORS = { warn: 'yellow', error: 'red', fatal: 'red' } as const;

/** Turns JSON lines of a logger into lines for people: `12:03:04 warn recorder: message (field value, …)`. */
export function prettyLines(write: (text: string) => void): DestinationStream {
  return { write: (line) => write(prettyLine(JSON.parse(line) as Record<string, unknown>)) };
}

function prettyLine(record: Record<string, unknown>): string {
  const { level, time, msg, err } = record as { level: number; time: number; msg?: string; err?: { stack?: string } };
  const name = pino.levels.labels[level] ?? String(level);
  const color = COLORS[name as keyof typeof COLORS] as (typeof COLORS)[keyof typeof COLORS] | undefined;
  const source = (record.service ?? record.part ?? 'services') as string;
  const fields = Object.entries(record)
    .filter(([field]) => !NOT_FIELDS.has(field))
    .map(([field, value]) => `${field} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const more = fields.length === 0 ? '' : ` (${fields.join(', ')})`;
  const clock = new Date(time).toTimeString().slice(0, 8);
  const stack = err?.stack === undefined ? '' : `\n${err.stack.replaceAll(/^/gm, '  ')}`;
  return `${clock} ${color ? styleText(color, name) : name} ${source}: ${msg ?? ''}${more}${stack}\n`;
}

/** Logs an error's `code` as `errorCode`: the redaction of sign-up codes would hide it under its own name. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const cause = error.cause instanceof Error ? error.cause.message : undefined;
  return { type: error.name, message: error.message, stack: error.stack, errorCode: errorCode(error), cause };
}
