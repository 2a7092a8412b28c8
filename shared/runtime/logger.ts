import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import { errorCode } from './errors.ts';

export type { Logger };

/**
 * Fields that never reach a log, at the top level and one level down: keys, secrets, codes and whole webhook URLs
 * (chat webhook URLs are secrets; log the host instead).
 */
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

/** An error's code is a field that the redaction of sign-up codes must not hide, so it is logged as errorCode. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const cause = error.cause instanceof Error ? error.cause.message : undefined;
  return { type: error.name, message: error.message, stack: error.stack, errorCode: errorCode(error), cause };
}
