/** Rule 20: the texts [deleted] and [removed], alone, are not searched. */
import { comment, found, missed, post } from './item-case.ts';
import type { ItemCase } from './item-case.ts';

export const DELETED_TEXTS_CASES: readonly ItemCase[] = [
  ...['[deleted]', '[removed]', ' [deleted] ', '\n[removed]\n', '[deleted]\r\n', '\t[removed]'].flatMap(
    (text): ItemCase[] => [
      missed('20 a deleted comment', ['deleted', 'removed'], comment(text)),
      missed('20 the text of a deleted post', ['deleted', 'removed'], post('', text)),
      missed('20 also with brackets', ['[deleted]', '[removed]'], comment(text)),
      found('20 the title of a post without its text', ['rust'], post('Rust', text)),
      {
        rule: '20 only the terms of the title',
        monitor: { keywords: ['rust', 'removed', 'deleted'] },
        item: post('Rust', text),
        expected: ['rust'],
      },
      {
        rule: '20 excludes do not search it',
        monitor: { exclude: ['deleted', 'removed'] },
        item: post('Rust', text),
        expected: ['rust'],
      },
    ],
  ),
  ...[
    'My post was [removed] by the bot',
    '[removed] why?',
    'deleted, removed',
    '[removed] [removed]',
    '\\*[removed]\\*',
    '[[removed]]',
    '"[removed]"',
    '[removed].',
    '(removed)',
  ].flatMap((text): ItemCase[] => [
    found('20 somebody who mentions it', ['removed'], comment(text)),
    found('20 somebody who mentions it', ['removed'], post('What happened?', text)),
  ]),
  found('20 somebody who mentions it', ['deleted'], comment('Why was it [deleted]?')),
  found('20 somebody who mentions it', ['[deleted]'], comment('It says [deleted] now')),

  ...['[deleted]', '[removed]', ' [removed]\n'].flatMap((text): ItemCase[] => [
    missed('20 a deleted comment', ['removed', 'deleted'], comment(text)),
    missed('20 the text of a deleted post', ['removed', 'deleted'], post('', text)),
    found('20 the title of a post without its text', ['rust'], post('rust', text)),
    {
      rule: '20 excludes do not search it',
      monitor: { exclude: ['removed'] },
      item: post('rust', text),
      expected: ['rust'],
    },
  ]),
  ...['removed', '[removed] by me', '[Removed]'].map((text) =>
    found('20 somebody who mentions it', ['removed'], comment(text)),
  ),
];
