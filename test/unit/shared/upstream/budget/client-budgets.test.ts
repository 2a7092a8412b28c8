import { describe, expect, test } from 'vitest';
import { ClientBudgets } from '../../../../../shared/upstream/budget/client-budgets.ts';

const NOW = 1_000_000;

/** Ends a call of a client with the headers of a response. */
function answer(clients: ClientBudgets, client: number, remaining: number, now = NOW): void {
  const used = String(1000 - remaining);
  clients.budgets[client]?.settle({ remaining: String(remaining), used, reset: '600' }, now);
  clients.answered(client);
}

/** Clients that all have answered a call; the first has the most calls left. */
function seen(count: number): ClientBudgets {
  const clients = new ClientBudgets(Array.from({ length: count }, (_, at) => `client ${at}`));
  for (let call = 0; call < count; call++) {
    const client = clients.take(NOW)!;
    answer(clients, client, 900 - 100 * client);
  }
  return clients;
}

/** The clients of the next calls, which stay in flight. */
const next = (clients: ClientBudgets, calls: number, now = NOW): (number | undefined)[] =>
  Array.from({ length: calls }, () => clients.take(now));

describe('the choice among clients', () => {
  test('gives a client that was never seen one call at a time while others have calls left', () => {
    const clients = new ClientBudgets(['never answers', 'b']);
    expect(next(clients, 2)).toEqual([0, 1]);
    answer(clients, 1, 2);
    expect(next(clients, 2)).toEqual([1, 1]);
    expect(clients.take(NOW), 'when the others have none left').toBe(0);
  });

  test('leaves out a failing client but for one call after each back-off', () => {
    const clients = seen(3);
    expect([clients.failed(0, NOW), clients.failed(0, NOW)]).toEqual([true, false]);
    expect(next(clients, 2, NOW + 29_999)).toEqual([1, 1]);
    expect(next(clients, 3, NOW + 30_000)).toEqual([0, 1, 1]);
    clients.budgets[0]?.settle({}, NOW + 30_000);
    clients.failed(0, NOW + 30_000);
    expect(next(clients, 1, NOW + 89_999)).toEqual([1]);
    expect(next(clients, 1, NOW + 90_000)).toEqual([0]);
    expect(clients.answered(0)).toBe(true);
    expect(next(clients, 2, NOW + 90_001)).toEqual([0, 0]);
  });

  test('uses all clients while none works, and tests each within 30 s after one works again', () => {
    const clients = seen(3);
    let now = NOW;
    for (let round = 0; round < 20; round++, now += 60_000) for (const client of [0, 1, 2]) clients.failed(client, now);
    expect(clients.areAllFailing).toBe(true);
    expect(clients.take(now)).toBeDefined();
    clients.answered(1);
    for (const client of clients.budgets) while (client.callsInFlight > 0) client.settle({}, now);
    expect(
      next(clients, 3, now + 30_000)
        .slice(0, 2)
        .sort(),
    ).toEqual([0, 2]);
  });

  test('waits for the first client that becomes free', () => {
    const clients = seen(3);
    clients.pause(0, 60_000, NOW);
    clients.pause(1, 5_000, NOW);
    clients.failed(2, NOW);
    expect([clients.take(NOW), clients.waitMs(NOW)]).toEqual([undefined, 5_000]);
    clients.pause(1, 90_000, NOW);
    expect(clients.waitMs(NOW)).toBe(30_000);
  });
});

describe('the rate of all clients', () => {
  test('counts a client that was never seen like the others, and a failing one not at all', () => {
    const clients = new ClientBudgets(['a', 'b', 'c']);
    expect(clients.perSecond(NOW)).toBe(Infinity);
    next(clients, 3);
    answer(clients, 0, 600);
    expect(clients.perSecond(NOW)).toBeCloseTo(3);
    clients.failed(1, NOW);
    expect(clients.perSecond(NOW)).toBeCloseTo(2);
    clients.answered(1);
    expect(clients.perSecond(NOW)).toBeCloseTo(3);
  });
});
