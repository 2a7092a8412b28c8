import { describe, expect, test } from 'vitest';
import { IntHeap } from '../../../../../shared/matching/tables/int-heap.ts';
import { NODE_SIZE, NodeTable } from '../../../../../shared/matching/tables/node-table.ts';

/** A bijection of the 32-bit integers that scatters them (the increment of Weyl's sequence is odd). */
const scattered = (value: number): number => Math.imul(value, 0x9e3779b1);

describe('NodeTable', () => {
  test('finds exactly the child of a parent and a symbol', () => {
    const heap = new IntHeap();
    const nodes = new NodeTable(heap, NODE_SIZE + 2);
    const roots = [nodes.createRoot(), nodes.createRoot()];
    const symbols = [1, 2, -1, -2, -0x110000, 0x7fffffff];
    for (const root of roots) {
      for (const symbol of symbols) {
        const child = nodes.addChild(root, symbol);
        heap.set(child + NODE_SIZE + 1, 9);
        for (const below of symbols) nodes.addChild(child, below);
      }
    }
    for (const root of roots) {
      expect([nodes.parent(root), nodes.isLeaf(root)]).toEqual([0, false]);
      for (const symbol of symbols) {
        const child = nodes.child(root, symbol);
        expect([nodes.parent(child), nodes.symbol(child)]).toEqual([root, symbol]);
        for (const below of symbols) {
          const leaf = nodes.child(child, below);
          expect([nodes.parent(leaf), nodes.symbol(leaf)]).toEqual([child, below]);
          expect(nodes.isLeaf(leaf)).toBe(true);
          expect(nodes.isLeaf(child)).toBe(false);
          nodes.remove(leaf);
          expect(nodes.child(child, below)).toBe(0);
        }
        expect(nodes.isLeaf(child)).toBe(true);
        nodes.remove(child);
        expect(nodes.child(root, symbol)).toBe(0);
      }
      expect(nodes.isLeaf(root)).toBe(true);
      expect(nodes.child(root, 3)).toBe(0);
    }
  });

  test('distinguishes edges with one hash', () => {
    // The hash is a bijection of parent * odd ^ symbol, so for any two parents there are symbols that collide.
    const nodes = new NodeTable(new IntHeap(), NODE_SIZE);
    const parents = [nodes.createRoot(), nodes.createRoot(), -1, -77];
    const symbolOf = (parent: number) => scattered(parent) ^ 12_345;
    const children = parents.map((parent) => nodes.addChild(parent, symbolOf(parent)));
    expect(parents.map((parent) => nodes.child(parent, symbolOf(parent), true))).toEqual(children);
    expect(nodes.child(-78, symbolOf(-78), true)).toBe(0);
    expect(parents.map((parent) => nodes.child(parent, symbolOf(parent)))).toEqual(children);
    const stranger = nodes.createRoot();
    expect(nodes.child(stranger, symbolOf(stranger))).toBe(0);
    for (const [index, child] of children.entries()) {
      nodes.remove(child);
      const left = children.map((other, position) => (position <= index ? 0 : other));
      expect(parents.map((parent) => nodes.child(parent, symbolOf(parent)))).toEqual(left);
    }
  });

  test('accepts negative parents, which are not nodes', () => {
    const heap = new IntHeap();
    const nodes = new NodeTable(heap, NODE_SIZE);
    const [one, other] = [nodes.addChild(-1, 7), nodes.addChild(-2, 7)];
    expect([nodes.child(-1, 7), nodes.child(-2, 7), nodes.child(-3, 7)]).toEqual([one, other, 0]);
    expect(nodes.parent(other)).toBe(-2);
    expect(nodes.bytes).toBeGreaterThan(0);
    nodes.remove(one);
    expect([nodes.child(-1, 7), nodes.child(-2, 7)]).toEqual([0, other]);
    expect([nodes.parent(other), nodes.symbol(other), nodes.isLeaf(other)]).toEqual([-2, 7, true]);
  });
});
