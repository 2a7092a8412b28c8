import { parseQueryBody } from '../../../../schemas/api/monitors/monitor-query.ts';
import { describeRefusal } from '../../../../shared/domain/rule-query/parse-rule-query.ts';
import { ApiError } from '../../http/api-error.ts';
import { parseRequest } from '../../http/invalid-request.ts';
import type { Answer, Call, Route } from '../../http/route.ts';
import { parseQuery } from './parse-query.ts';
import { ruleSettingsResource } from './rule-settings-resource.ts';

/**
 * The route that reads a rule in its textual form. It changes nothing, but has the permission of all that is posted to
 * monitors: who may not write them has no use for the settings.
 */
export const parseRoute: Route = {
  method: 'post',
  path: '/v1/monitors/parse',
  scope: 'monitors:write',
  readsBody: true,
  handle: parse,
};

async function parse({ body }: Call): Promise<Answer> {
  const { query } = parseRequest(parseQueryBody, body === undefined ? {} : body, 'body');
  const parsed = parseQuery(query);
  if ('refusal' in parsed) {
    const { refusal } = parsed;
    throw new ApiError('invalid_request', `query: ${describeRefusal(query, refusal)}`, { position: refusal.position });
  }
  return Promise.resolve({ status: 200, body: { settings: ruleSettingsResource(parsed.settings) } });
}
