import type { UnsavedSettings } from '../../../schemas/api/monitor.ts';
import { ruleOf } from '../../../shared/stores/monitors/monitors.ts';
import type { Rule } from '../../../shared/matching/rule.ts';
import { refuseFaults } from '../http/invalid-request.ts';
import { checkNewRule } from './check-rule.ts';

/**
 * The rule of settings that are not stored, with every check that the same fields get in POST /v1/monitors. Name and
 * webhook are ignored.
 *
 * @throws ApiError invalid_request; the fields are named below `settings`
 */
export function unsavedRule(settings: UnsavedSettings): Rule {
  const { rule, faults } = checkNewRule(settings);
  refuseFaults(faults.map(({ field, message }) => ({ field: `settings.${field}`, message })));
  const { posts, comments, nsfw, thread_once: threadOnce } = settings;
  return ruleOf({
    ...rule,
    posts,
    comments,
    nsfw,
    threadOnce: threadOnce ?? false,
    webhookUrl: null,
    webhookKind: null,
  });
}
