import { expect, test } from 'vitest';
import { Semaphore } from '../../../../shared/runtime/semaphore.ts';

/** Work that ends when it is told to, and the names of what has begun. */
function createWork() {
  const begun: string[] = [];
  const ends = new Map<string, (fails: boolean) => void>();
  return {
    begun,
    of: (name: string) => () => {
      begun.push(name);
      return new Promise<string>((resolve, reject) => {
        ends.set(name, (fails) => (fails ? reject(new Error(name)) : resolve(name)));
      });
    },
    end: (name: string, { fails = false } = {}) => ends.get(name)!(fails),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('all accounts together have a few at a time; one with enough under way lets others go first', async () => {
  const queues = new Semaphore(3, 2);
  const work = createWork();
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => queues.run(name[0]!, work.of(name)));
  await turn();
  expect(work.begun).toEqual(['a1', 'a2', 'b1']);
  work.end('b1');
  await turn();
  expect(work.begun).toEqual(['a1', 'a2', 'b1', 'b2']);
  work.end('a1');
  await turn();
  expect(work.begun).toEqual(['a1', 'a2', 'b1', 'b2', 'a3']);
  for (const name of ['a2', 'b2', 'a3']) work.end(name);
  await turn();
  work.end('c1');
  await Promise.all(all);
});

test('work that gives up waiting is never begun, and the next one begins', async () => {
  const semaphore = new Semaphore(1);
  const work = createWork();
  const leaving = new AbortController();
  const first = semaphore.run('a', work.of('first'));
  const left = semaphore.run('a', work.of('left'), leaving.signal);
  const last = semaphore.run('a', work.of('last'));
  leaving.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  work.end('first');
  await turn();
  work.end('last');
  await Promise.all([first, last]);
  expect(work.begun).toEqual(['first', 'last']);
});
