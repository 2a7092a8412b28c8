import { expect, test } from 'vitest';
import { Lifecycle } from '../../../../shared/runtime/lifecycle.ts';
import { silentLogger } from '../../../support/fixtures/silent-logger.ts';

test('parts stop in the reverse order of their start, once, and one failure keeps nothing else from stopping', async () => {
  const lifecycle = new Lifecycle(silentLogger());
  const stopped: string[] = [];
  lifecycle.onStop('first', () => void stopped.push('first'));
  lifecycle.onStop('second', () => {
    throw new Error('broken');
  });
  lifecycle.onStop('third', () => void stopped.push('third'));
  const [clean] = await Promise.all([lifecycle.stop(), lifecycle.stop()]);
  expect(stopped).toEqual(['third', 'first']);
  expect(clean).toBe(false);
});

test('a part that hangs is given up after the deadline', async () => {
  const lifecycle = new Lifecycle(silentLogger(), 5);
  const stopped: string[] = [];
  lifecycle.onStop('first', () => void stopped.push('first'));
  lifecycle.onStop('hanging', () => new Promise(() => undefined));
  expect(await lifecycle.stop()).toBe(false);
  expect(stopped).toEqual(['first']);
});

test('a part may take the time that it was given', async () => {
  const lifecycle = new Lifecycle(silentLogger(), 5);
  const slow = { stop: () => new Promise<void>((resolve) => setTimeout(resolve, 50)) };
  lifecycle.add('slow', slow, 60_000);
  expect(await lifecycle.stop()).toBe(true);
});
