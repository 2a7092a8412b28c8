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

/** JSON lines on stdout (or `destination`), with secrets redacted. */
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

/** Logs an error's `code` as `errorCode`: the redaction of sign-up codes would hide it under its own name. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const cause = causes(error).join(': ') || undefined;
  return { type: error.name, message: error.message, stack: error.stack, errorCode: errorCode(error), cause };
}

const MOST_CAUSES = 5;

/** The messages of an error's causes, the nearest first; the code of one without a message, as of several errors. */
function causes(error: Error): string[] {
  const found: string[] = [];
  for (let cause = error.cause; cause instanceof Error && found.length < MOST_CAUSES; cause = cause.cause) {
    found.push(cause.message || (errorCode(cause) ?? cause.name));
  }
  return found;
}
