/** Rule 26: lists of communities and accounts decide after the terms. */
import type { MatchItem, Rule } from '../../../../../../shared/matching/rule.ts';
import { comment } from './item-case.ts';
import type { ItemCase } from './item-case.ts';

function row(what: string, monitor: Partial<Rule>, about: Partial<MatchItem>, isFound: boolean): ItemCase {
  return {
    rule: `26 ${what}`,
    monitor,
    item: { ...comment('rust'), ...about },
    expected: isFound ? ['rust'] : undefined,
  };
}

export const NAME_CASES: readonly ItemCase[] = [
  row('another community', { excludeSubreddits: ['rust'] }, { subreddit: 'go' }, true),
  row('a longer name', { excludeSubreddits: ['rust'] }, { subreddit: 'rust_gamedev' }, true),
  row('no communities', { excludeSubreddits: [] }, { subreddit: 'rust' }, true),
  row(
    'watched and another one excluded',
    { subreddits: ['go'], excludeSubreddits: ['rust'] },
    { subreddit: 'go' },
    true,
  ),
  row('the excluded community', { excludeSubreddits: ['rust'] }, { subreddit: 'rust' }, false),
  row('in another case', { excludeSubreddits: ['Rust'] }, { subreddit: 'RUST' }, false),
  row('with a prefix', { excludeSubreddits: ['go', 'r/rust'] }, { subreddit: 'rust' }, false),
  row('an account’s own community', { excludeSubreddits: ['u_some-body'] }, { subreddit: 'u_Some-Body' }, false),
  row('watched and excluded', { subreddits: ['rust'], excludeSubreddits: ['rust'] }, { subreddit: 'rust' }, false),

  row('one of the authors', { authors: ['one', 'two'] }, { author: 'two' }, true),
  row('in another case', { authors: ['Some_Body'] }, { author: 'some_body' }, true),
  row('with a prefix', { authors: ['u/one', '/u/two'] }, { author: 'two' }, true),
  row('no authors', { authors: [] }, { author: 'one' }, true),
  row('another author', { authors: ['one'] }, { author: 'two' }, false),
  row('a longer name', { authors: ['one'] }, { author: 'one_more' }, false),
  row('an account that is deleted', { authors: ['one'] }, { author: '[deleted]' }, false),
  row('deleted accounts are no author', { authors: ['[deleted]'] }, { author: '[deleted]' }, false),
  row('an unknown author', { authors: ['one'] }, {}, false),

  row('another author', { excludeAuthors: ['AutoModerator'] }, { author: 'one' }, true),
  row('an unknown author', { excludeAuthors: ['one'] }, {}, true),
  row('an account that is deleted', { excludeAuthors: ['[deleted]'] }, { author: '[deleted]' }, true),
  row('an author who is not excluded', { authors: ['one'], excludeAuthors: ['two'] }, { author: 'one' }, true),
  row('the excluded author', { excludeAuthors: ['AutoModerator'] }, { author: 'AutoModerator' }, false),
  row('in another case', { excludeAuthors: ['u/automoderator'] }, { author: 'AutoModerator' }, false),
  row('wanted and excluded', { authors: ['one'], excludeAuthors: ['one'] }, { author: 'one' }, false),
];
