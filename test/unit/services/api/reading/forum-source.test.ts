import { expect, test } from 'vitest';
import { ForumSource } from '../../../../../services/api/reading/forum-source.ts';
import { UpstreamError } from '../../../../../shared/upstream/upstream-error.ts';

/** A source whose forum answers every call with a redirect to there. */
function redirecting(location: string | undefined) {
  const moved = new UpstreamError('moved', 'the forum answered 302', { status: 302, location });
  const fail = () => Promise.reject(moved);
  const options = { upstream: { get: fail, post: fail }, siteUrl: 'https://www.reddit.com', clock: () => 0 };
  return { source: new ForumSource(options), moved };
}

test('the target of a share link is a complete URL', async () => {
  const target = '/r/rust/comments/abc/';
  for (const location of [target, `https://www.reddit.com${target}`]) {
    const { source } = redirecting(location);
    expect(await source.redirectTarget('/r/rust/s/code')).toBe(`https://www.reddit.com${target}`);
  }
});

test.each([['http://['], [undefined]])('a redirect to %s is a failure of the forum', async (location) => {
  const { source, moved } = redirecting(location);
  await expect(source.redirectTarget('/r/rust/s/code')).rejects.toBe(moved);
});
