import { describe, expect, test } from 'vitest';
import { createMonitorBody, patchMonitorBody } from '../../../../schemas/api/monitor.ts';

const BODY = { name: 'my metals', keywords: ['rust'] };

describe('createMonitorBody', () => {
  test('has defaults for everything but the name and the keywords', () => {
    expect(createMonitorBody.parse(BODY)).toEqual({
      ...BODY,
      exclude: [],
      subreddits: [],
      posts: true,
      comments: true,
      nsfw: false,
    });
    expect(createMonitorBody.safeParse({ name: 'x' }).success).toBe(false);
    expect(createMonitorBody.safeParse({ keywords: ['x'] }).success).toBe(false);
  });

  test('trims the name', () => {
    expect(createMonitorBody.parse({ ...BODY, name: ' \tmetals ' }).name).toBe('metals');
  });

  test.each([
    ['an empty name', { name: ' ' }],
    ['a name of 201 characters', { name: 'x'.repeat(201) }],
    ['a control character in the name', { name: 'a\u0007b' }],
    ['a NUL in a keyword', { keywords: ['a\0b'] }],
    ['half of a surrogate pair in a keyword', { keywords: ['\ud83e'] }],
    ['a NUL in the webhook URL', { webhook_url: 'https://receiver.example/\0' }],
    ['null for the webhook URL', { webhook_url: null }],
    ['an unknown kind of webhook', { webhook_kind: 'teams' }],
    ['an unknown field', { nfsw: true }],
  ])('refuses %s', (_, fields) => {
    expect(createMonitorBody.safeParse({ ...BODY, ...fields }).success).toBe(false);
  });
});

describe('patchMonitorBody', () => {
  test('leaves absent fields absent', () => {
    expect(patchMonitorBody.parse({})).toEqual({});
    expect(patchMonitorBody.parse({ nsfw: true })).toEqual({ nsfw: true });
  });

  test('accepts null for the webhook, which removes it', () => {
    expect(patchMonitorBody.parse({ webhook_url: null, webhook_kind: null })).toEqual({
      webhook_url: null,
      webhook_kind: null,
    });
    expect(patchMonitorBody.safeParse({ name: null }).success).toBe(false);
  });
});
