import { expect, test } from 'vitest';
import { itemRow, matchRow } from '../../../../shared/archive/archive-rows.ts';
import { candidateOf } from '../../../support/fixtures/recorder-fixtures.ts';
import { forumItemOf } from '../../../support/samples/forum-items.ts';

test('the row of an item has the columns of the table and no null', () => {
  const row = itemRow(forumItemOf('t1_a', { late: true }), false);
  expect(row).toMatchObject({ thing_id: 't1_a', parent_id: 't3_parent', num_comments: 0, url: '', ver: 1 });
  expect(Object.keys(row)).not.toContain('v');
  expect(Object.keys(row)).not.toContain('replay');
  expect(Object.keys(row)).not.toContain('late');
  expect(Object.values(row)).not.toContain(null);
});

test('a lone surrogate and a negative count, which ClickHouse rejects, are corrected', () => {
  const row = itemRow(forumItemOf('t3_a', { body: 'x \ud83d y 🦀', num_comments: -1 }), false);
  expect(row).toMatchObject({ body: 'x \ufffd y 🦀', num_comments: 0 });
  const { item, ...about } = candidateOf({ monitorId: 'mon_a', thingId: 't1_a' });
  const match = matchRow({
    ...about,
    match_id: 'mat_a',
    seq: 1,
    suppressed: false,
    first_delivery: 'none',
    created_at: about.entered_at,
    matched_terms: ['\udc00'],
    item: { ...item, subreddit: '\ud800' },
  });
  expect(match).toMatchObject({ matched_terms: ['\ufffd'], subreddit: '\ufffd', thing_id: 't1_a' });
  expect(Object.keys(match), 'only items rows have content').not.toContain('item');
});
