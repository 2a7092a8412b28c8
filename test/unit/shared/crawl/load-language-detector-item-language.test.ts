import { expect, test, vi } from 'vitest';
import { forumItem } from '../../../../schemas/messages/forum-item.ts';
import { withLanguage } from '../../../../shared/crawl/load-language-detector.ts';
import { commentItem } from '../../../support/samples/forum-items.ts';

const comment = { ...commentItem(1, 'a body'), title: 'a title' };
const post = { ...comment, kind: 'post' as const, thing_id: 't3_1' };

test('the language of a comment is that of its text, of a post that of its title and text', () => {
  const detect = vi.fn(() => 'de');
  const items = [comment, post].map((item) => withLanguage(item, detect, () => undefined));
  expect(detect.mock.calls).toEqual([[['a body']], [['a title', 'a body']]]);
  expect(items).toEqual([
    { ...comment, language: 'de' },
    { ...post, language: 'de' },
  ]);
  for (const item of items) expect(forumItem.parse(item)).toEqual(item);
});

test('an item whose language cannot be detected is und, and the failure is reported', () => {
  const failure = new Error('broken');
  const failures: unknown[] = [];
  const detect = () => {
    throw failure;
  };
  expect(withLanguage(comment, detect, (error) => failures.push(error))).toEqual({ ...comment, language: 'und' });
  expect(failures).toEqual([failure]);
});
