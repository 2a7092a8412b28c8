/** Rule 19: communities, NSFW, and kinds of items. */
import type { MatchItem, Rule } from '../../../../../../shared/matching/rule.ts';
import { comment, post } from './item-case.ts';
import type { ItemCase } from './item-case.ts';

function within(subreddits: readonly string[], subreddit: string, matches: boolean): ItemCase[] {
  return [post('rust', ''), comment('rust')].map((item) => ({
    rule: '19 communities',
    monitor: { subreddits },
    item: { ...item, subreddit },
    expected: matches ? ['rust'] : undefined,
  }));
}

function filtered(monitor: Partial<Rule>, item: Partial<MatchItem>, matches: boolean): ItemCase {
  return {
    rule: '19 filters',
    monitor,
    item: { ...comment('I like rust'), ...item },
    expected: matches ? ['rust'] : undefined,
  };
}

export const FILTERS_CASES: readonly ItemCase[] = [
  ...within([], 'rust', true),
  ...within([], 'u_somebody', true),
  ...within([], '', true),
  ...within(['rust'], 'rust', true),
  ...within(['rust'], 'RUST', true),
  ...within(['RUST'], 'rust', true),
  ...within(['r/rust'], 'rust', true),
  ...within(['r/Rust'], 'rUsT', true),
  ...within(['/r/rust'], 'Rust', true),
  ...within(['R/RUST'], 'rust', true),
  ...within(['rust'], 'r/rust', true),
  ...within(['python', 'golang', 'rust'], 'Rust', true),
  ...within(['r/python', '/r/golang', 'R/rust'], 'golang', true),
  ...within(['learn_rust'], 'Learn_Rust', true),
  ...within(['u_somebody'], 'u_SomeBody', true),
  ...within(['rust', 'rust', 'r/rust'], 'rust', true),

  ...within(['rust'], 'rustjerk', false),
  ...within(['rust'], 'learnrust', false),
  ...within(['rust'], 'learn_rust', false),
  ...within(['rustjerk'], 'rust', false),
  ...within(['learn_rust'], 'learnrust', false),
  ...within(['python', 'golang'], 'rust', false),
  ...within(['r/python'], 'rust', false),
  ...within(['u_rust'], 'rust', false),
  ...within(['rust'], 'u_rust', false),
  ...within(['rust'], '', false),
  ...within(['rust'], 'r', false),

  filtered({ nsfw: true }, { nsfw: true }, true),
  filtered({ nsfw: true }, { nsfw: false }, true),
  filtered({ nsfw: false }, { nsfw: false }, true),
  filtered({ nsfw: true }, { kind: 'post', nsfw: true }, true),
  filtered({ nsfw: true }, { kind: 'post', title: 'rust', text: '', nsfw: true }, true),
  filtered({ nsfw: true, subreddits: ['rust'] }, { subreddit: 'Rust', nsfw: true }, true),
  filtered({ nsfw: false }, { nsfw: true }, false),
  filtered({ nsfw: false }, { kind: 'post', nsfw: true }, false),
  filtered({ nsfw: false }, { kind: 'post', title: 'rust', nsfw: true }, false),
  filtered({ nsfw: false, subreddits: ['rust'] }, { subreddit: 'rust', nsfw: true }, false),
  filtered({ nsfw: true, subreddits: ['go'] }, { subreddit: 'rust', nsfw: true }, false),
  filtered({ nsfw: true, exclude: ['like'] }, { nsfw: true }, false),

  filtered({ posts: true, comments: false }, { kind: 'post' }, true),
  filtered({ posts: true, comments: false }, { kind: 'post', title: 'Rust', text: '' }, true),
  filtered({ posts: false, comments: true }, { kind: 'comment' }, true),
  filtered({ posts: true, comments: true }, { kind: 'post' }, true),
  filtered({ posts: true, comments: true }, { kind: 'comment' }, true),
  filtered({ posts: true, comments: false, nsfw: true }, { kind: 'post', nsfw: true }, true),
  filtered({ posts: true, comments: false }, { kind: 'comment' }, false),
  filtered({ posts: false, comments: true }, { kind: 'post' }, false),
  filtered({ posts: false, comments: true }, { kind: 'post', title: 'rust' }, false),
  filtered({ posts: false, comments: false }, { kind: 'post' }, false),
  filtered({ posts: false, comments: false }, { kind: 'comment' }, false),
  filtered({ posts: false, comments: true, nsfw: true }, { kind: 'post', nsfw: true }, false),

  ...within([], 'anything', true),
  ...within(['rust'], 'Rust', true),
  ...within(['r/RUST'], 'rust', true),
  ...within(['go', '/r/rust'], 'rust', true),
  ...within(['R/Rust'], 'r/rust', true),
  ...within(['go', 'python'], 'rust', false),

  filtered({ nsfw: true }, { text: 'rust', nsfw: true }, true),
  filtered({ nsfw: true }, { text: 'rust' }, true),
  filtered({}, { kind: 'post', title: 'rust', text: '', nsfw: true }, false),
  filtered({}, { text: 'rust', nsfw: true }, false),
  filtered({ posts: false }, { kind: 'post', title: 'rust', text: '' }, false),
  filtered({ posts: false }, { text: 'rust' }, true),
  filtered({ comments: false }, { text: 'rust' }, false),
  filtered({ comments: false }, { kind: 'post', text: 'rust' }, true),
];
