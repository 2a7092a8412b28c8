import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AddressTable, NODE_SIZE, NodeTable } from '../../../../../shared/matching/terms/address-table.ts';
import { IntHeap } from '../../../../../shared/matching/terms/int-list.ts';

/** All addresses that a table returns for the hash, sorted. */
function offered(table: AddressTable, hash: number): number[] {
  const addresses: number[] = [];
  for (let address = table.first(hash); address !== 0; address = table.next(hash)) addresses.push(address);
  return addresses.sort((one, other) => one - other);
}

/** A table and its expected content. */
class ModelledTable {
  readonly table = new AddressTable();
  readonly model = new Map<number, Set<number>>();

  add(hash: number, address: number): void {
    const held = this.model.get(hash) ?? new Set();
    this.model.set(hash, held.add(address));
    this.table.add(hash, address);
  }

  remove(hash: number, address: number): void {
    this.model.get(hash)?.delete(address);
    this.table.remove(hash, address);
  }

  has(hash: number, address: number): boolean {
    return this.model.get(hash)?.has(address) === true;
  }

  check(hash: number): void {
    expect(offered(this.table, hash)).toEqual([...(this.model.get(hash) ?? [])].sort((one, other) => one - other));
  }

  checkAll(): void {
    for (const hash of this.model.keys()) this.check(hash);
  }
}

/** A bijection of the 32-bit integers that scatters them (the increment of Weyl's sequence is odd). */
const scattered = (value: number): number => Math.imul(value, 0x9e3779b1);

describe('AddressTable', () => {
  test('is a map from hashes to sets of addresses for any order of changes', () => {
    // Few hashes, and some that differ only in their lowest or highest bits: they collide in slots or in the bitmap.
    const hash = fc.oneof(
      fc.constantFrom(0, 1, 8, 16, -1, -8, 0x7fffffff, -0x80000000, 0x40000000, 0x40000008),
      fc.integer({ min: -20, max: 20 }),
      fc.integer({ min: -0x80000000, max: 0x7fffffff }),
    );
    const change = fc.record({ hash, address: fc.integer({ min: 1, max: 12 }), adds: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 150 }), (changes) => {
        const modelled = new ModelledTable();
        for (const { hash: changed, address, adds } of changes) {
          const isReferenced = modelled.has(changed, address);
          if (adds && !isReferenced) modelled.add(changed, address);
          else if (!adds) modelled.remove(changed, address);
          modelled.check(changed);
        }
        modelled.checkAll();
      }),
      { numRuns: 500 },
    );
  });

  test('keeps its content when it grows', () => {
    const modelled = new ModelledTable();
    for (let number = 1; number <= 1500; number++) {
      const before = modelled.table.bytes;
      modelled.add(scattered(number), number);
      if (modelled.table.bytes <= before) continue;
      for (let other = 1; other <= Math.min(number, 60); other++) {
        modelled.remove(scattered(other), other);
        modelled.check(scattered(other));
        modelled.add(scattered(other), other);
        modelled.check(scattered(other));
        modelled.check(scattered(number));
      }
      modelled.checkAll();
    }
  });

  test('needs memory for its current content, not for removed records', () => {
    const table = new AddressTable();
    const smallest = table.bytes;
    for (let number = 1; number <= 20_000; number++) table.add(scattered(number), number);
    const full = table.bytes;
    // 8 bytes per slot, at least 3/8 of the slots in use, and a byte for the bitmap.
    expect(full).toBeLessThan(20_000 * 8 * (8 / 3) * 1.7);
    expect(full).toBeGreaterThan(20_000 * 8);
    for (let number = 1; number <= 20_000; number++) table.remove(scattered(number), number);
    for (let number = 1; number <= 100_000; number++) {
      table.add(scattered(number), number);
      table.remove(scattered(number), number);
    }
    expect(table.bytes).toBeLessThan(4 * smallest);
  });
});

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
