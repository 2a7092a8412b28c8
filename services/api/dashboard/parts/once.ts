import { createHash } from 'node:crypto';
import { randomText } from '../../../../shared/domain/identifiers.ts';
import type { ApiRequest } from '../call-api.ts';
import type { FormFields } from '../form-fields.ts';

const LENGTH = 20;
const ONCE = /^[0-9a-z]{20}$/;

/** A random value for the field `once` of a form whose second sending must do nothing. */
export function newOnce(): string {
  return randomText(LENGTH);
}

/**
 * The Idempotency-Key of what a form with the field `once` asks for: sent twice, it is done once and both answers are
 * the same. A form that was changed after it was sent, and is sent again, asks for something else.
 *
 * @param asked what the form asks for
 */
export function onceKey(form: FormFields, asked: object): Pick<ApiRequest, 'idempotencyKey'> {
  const once = form.text('once');
  if (!ONCE.test(once)) return {};
  const digest = createHash('sha256').update(JSON.stringify(asked)).digest('hex').slice(0, 16);
  return { idempotencyKey: `dashboard-${once}-${digest}` };
}
