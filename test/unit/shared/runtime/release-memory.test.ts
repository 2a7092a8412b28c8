import { memoryUsage } from 'node:process';
import { expect, test } from 'vitest';
import { releaseMemory } from '../../../../shared/runtime/release-memory.ts';

/** Returns the size of the heap while it holds 50 MB of strings, which nobody needs afterwards. */
function heapWithGarbage(): number {
  const texts: string[] = [];
  for (let i = 0; i < 400_000; i++) texts.push(`a string of its own on the heap, number ${i}`.padEnd(120, String(i)));
  expect(texts.map((text) => text.length).length).toBe(400_000);
  return memoryUsage().heapTotal;
}

test('memory that is no longer used is given back', () => {
  releaseMemory();
  const most = heapWithGarbage();
  releaseMemory();
  expect(memoryUsage().heapTotal).toBeLessThan(most - 30e6);
});
