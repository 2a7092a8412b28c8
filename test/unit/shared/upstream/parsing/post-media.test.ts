import { expect, test } from 'vitest';
import { parseAnswer } from '../../../../../shared/upstream/parsing/parse-page.ts';
import { mediaOf, pollOf } from '../../../../../shared/upstream/parsing/post-media.ts';
import { postSchema } from '../../../../../shared/upstream/parsing/post-schema.ts';
import * as samples from '../../../../support/samples/upstream-samples.ts';

const mediaIn = (data: object) => mediaOf(parseAnswer(postSchema, data));

test('returns the pictures of a gallery in order, without failed ones', () => {
  expect(mediaIn(samples.GALLERY)).toEqual([
    {
      type: 'gallery',
      url: 'https://i.example/b.gif',
      width: 10,
      height: 20,
      caption: 'second in the map, first in the order',
    },
    { type: 'gallery', url: 'https://i.example/a.jpg', width: 640, height: 480, caption: '' },
  ]);
  expect(mediaIn({ ...samples.GALLERY, gallery_data: null, media_metadata: null })).toEqual([]);
});

test('returns the image or video of a post, or of the post that it crossposts', () => {
  const video = { type: 'video', url: 'https://v.example/1/720', width: 1280, height: 720, caption: '' };
  expect(mediaIn(samples.IMAGE)).toEqual([
    { type: 'image', url: 'https://i.redd.it/x.jpeg', width: 300, height: 200, caption: '' },
  ]);
  expect(mediaIn({ ...samples.IMAGE, post_hint: 'link' })).toEqual([]);
  expect(mediaIn({ ...samples.IMAGE, post_hint: undefined, preview: undefined })).toEqual([
    { type: 'image', url: 'https://i.redd.it/x.jpeg', width: 0, height: 0, caption: '' },
  ]);
  expect(mediaIn(samples.VIDEO)).toEqual([video]);
  expect(mediaIn({ ...samples.VIDEO, media: null, secure_media: null })).toEqual([
    { ...video, url: 'https://v.redd.it/1', width: 0, height: 0 },
  ]);
  expect(mediaIn(samples.CROSSPOST)).toEqual([video]);
});

test.each([
  [1_790_000_499_999, false],
  [1_790_000_500_000, true],
])('a poll at %i has is_closed %s, and hidden vote counts are 0', (now, isClosed) => {
  expect(pollOf(parseAnswer(postSchema, samples.POLL), now)).toEqual({
    total_votes: 7,
    is_closed: isClosed,
    options: [
      { id: '1', text: 'Yes', vote_count: 3 },
      { id: '2', text: 'No', vote_count: 0 },
    ],
  });
});
