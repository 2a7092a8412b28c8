import { expect, test } from 'vitest';
import { parseQuery, ruleSettingsResource } from '../../../../../services/api/monitors/check-settings.ts';
import { ruleExamples } from '../../../../support/samples/rule-examples.ts';

const examples = ruleExamples();

test.each(examples)('the text and the fields of the example $query are the same rule', ({ query, fields }) => {
  const parsed = parseQuery(query);
  if ('refusal' in parsed) throw new Error(parsed.refusal.message);
  expect(ruleSettingsResource(parsed.settings)).toEqual(fields);
});
