import { expect, test } from 'vitest';
import { parseAnswer } from '../../../../../shared/upstream/parsing/parse-page.ts';
import { postSchema } from '../../../../../shared/upstream/parsing/post-schema.ts';
import * as samples from '../../../../support/samples/upstream-samples.ts';

test('the error for an unknown shape names its path and nothing of the content', () => {
  expect(() => parseAnswer(postSchema, { ...samples.GALLERY, gallery_data: { items: [{ media_id: 5 }] } })).toThrow(
    /at "gallery_data\.items\.0\.media_id"/,
  );
});
