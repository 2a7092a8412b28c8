import { describe, expect, test } from 'vitest';
import { IntHeap } from '../../../../../shared/matching/terms/int-list.ts';
import { NODE_SIZE, NodeTable } from '../../../../../shared/matching/terms/node-table.ts';

/** A bijection of the 32-bit integers that scatters them (the increment of Weyl's sequence is odd). */
const scattered = (value: number): number => Math.imul(value, 0x9e3779b1);

describe('NodeTable', () => {
  test('distinguishes edges with one hash', () => {
    // The hash is a bijection of parent * odd ^ symbol, so for any two parents there are symbols that collide.
    const nodes = new NodeTable(new IntHeap(), NODE_SIZE);
    const parents = [nodes.createRoot(), nodes.createRoot(), -1, -77];
    const symbolOf = (parent: number) => scattered(parent) ^ 12_345;
    const children = parents.map((parent) => nodes.addChild(parent, symbolOf(parent)));
    expect(nodes.child(-78, symbolOf(-78))).toBe(0);
    expect(parents.map((parent) => nodes.child(parent, symbolOf(parent)))).toEqual(children);
    const stranger = nodes.createRoot();
    expect(nodes.child(stranger, symbolOf(stranger))).toBe(0);
    for (const [index, child] of children.entries()) {
      nodes.remove(child);
      const left = children.map((other, position) => (position <= index ? 0 : other));
      expect(parents.map((parent) => nodes.child(parent, symbolOf(parent)))).toEqual(left);
    }
  });
});
