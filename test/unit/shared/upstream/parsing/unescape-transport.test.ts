import { expect, test } from 'vitest';
import { parseThing } from '../../../../../shared/upstream/parsing/parse-things.ts';
import type { Thing } from '../../../../../shared/upstream/parsing/thing-schema.ts';
import { unescapeThing } from '../../../../../shared/upstream/parsing/unescape-transport.ts';
import { COMMENT, POST } from '../../../../support/samples/forum-things.ts';

function thingOf(kind: string, data: object): Thing {
  const parsed = parseThing({ kind, data }, '');
  if (parsed.outcome !== 'thing') throw new Error(JSON.stringify(parsed));
  return parsed.thing;
}

test('unescapes texts and URLs exactly once', () => {
  const post = {
    ...POST,
    title: 'a &amp;lt; b',
    selftext: '&gt; x &amp; y &quot;',
    url: 'https://e.org/?a=1&amp;b=2',
  };
  expect(unescapeThing(thingOf('t3', post)).data).toMatchObject({
    title: 'a &lt; b',
    selftext: '> x & y &quot;',
    url: 'https://e.org/?a=1&b=2',
  });
  const comment = unescapeThing(thingOf('t1', { ...COMMENT, body: '1 &lt; 2', link_title: 'Q &amp; A' }));
  expect(comment.data).toMatchObject({ body: '1 < 2', link_title: 'Q & A' });
});
