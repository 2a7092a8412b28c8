import type { Term } from './term.ts';
import { HYPHEN, SPACE } from './term.ts';
import type { Unit } from './units.ts';

/** A term that at least one rule holds. Terms with equal keys are one object, so that its identity tells terms apart. */
export interface HeldTerm<W> {
  readonly term: Term;
  readonly node: TrieNode<W>;
  /** How many rules hold it, to watch for it or to exclude it. */
  holds: number;
  readonly watchers: Set<W>;
}

interface TrieNode<W> {
  readonly parent: TrieNode<W> | undefined;
  /** The parent's key to this node. */
  readonly key: string;
  /** Undefined while there are none: nearly every node is a leaf. */
  children: Map<string, TrieNode<W>> | undefined;
  /** The terms that end here. They differ only in where they ask for a hyphen and where for a space. */
  terms: HeldTerm<W>[] | undefined;
}

function createNode<W>(parent: TrieNode<W> | undefined, key: string): TrieNode<W> {
  return { parent, key, children: undefined, terms: undefined };
}

/** A hyphen in the text may stand for a space in the keyword: in the trie both take the same way. */
function wayOf(key: string): string {
  return key === HYPHEN ? SPACE : key;
}

/** Whether the text from `start` on has the term's hyphens and spaces. All its other units are known to be equal. */
function hasItsGaps({ keys, fixedGaps }: Term, units: readonly Unit[], start: number): boolean {
  for (const offset of fixedGaps) if (units[start + offset]?.key !== keys[offset]) return false;
  return true;
}

/** Whether the neighbours let the term stand at [start, end). Words are whole by construction; symbols at the edges look around. */
function isBounded(term: Term, units: readonly Unit[], start: number, end: number): boolean {
  const before = units[start - 1];
  const after = units[end];
  if (term.guardsStart && before !== undefined) {
    if (before.kind === 'word' || before.kind === 'possessive' || before.key === units[start]?.key) return false;
  }
  if (after === undefined) return true;
  if (term.guardsEnd && after.key === units[end - 1]?.key) return false;
  return !(term.endsInLetter && (after.key === '+' || after.key === '#'));
}

/**
 * All terms of all rules, as a trie over units with a Map at each node. Terms that several rules hold are stored once, and
 * terms that begin alike share their way. From each unit of a text one way is followed, without branching and at most as long as
 * the longest term, so the work does not grow with the number of terms, but for those that differ in hyphens and spaces alone.
 */
export class TermTrie<W> {
  readonly #root = createNode<W>(undefined, '');

  /** Takes a hold on the term, which is to be given back by `release`. */
  hold(term: Term): HeldTerm<W> {
    let node = this.#root;
    for (const key of term.keys.map(wayOf)) {
      node.children ??= new Map();
      let child = node.children.get(key);
      if (child === undefined) {
        child = createNode(node, key);
        node.children.set(key, child);
      }
      node = child;
    }
    node.terms ??= [];
    let held = node.terms.find((other) => other.term.keys.every((key, position) => key === term.keys[position]));
    if (held === undefined) {
      held = { term, node, holds: 0, watchers: new Set() };
      node.terms.push(held);
    }
    held.holds++;
    return held;
  }

  /** With the last hold the term goes, and with it every node that led nowhere else. */
  release(held: HeldTerm<W>): void {
    held.holds--;
    if (held.holds > 0) return;
    const left = held.node.terms?.filter((other) => other !== held) ?? [];
    held.node.terms = left.length > 0 ? left : undefined;
    for (let node = held.node; node.parent !== undefined; node = node.parent) {
      if (node.terms !== undefined || node.children !== undefined) return;
      const siblings = node.parent.children;
      siblings?.delete(node.key);
      if (siblings?.size === 0) node.parent.children = undefined;
    }
  }

  /** Adds to `found` every term that occurs in the text. */
  search(units: readonly Unit[], found: Set<HeldTerm<W>>): void {
    for (let start = 0; start < units.length; start++) {
      let node = this.#root;
      for (let end = start; ; end++) {
        for (const held of node.terms ?? []) {
          const { term } = held;
          if (hasItsGaps(term, units, start) && isBounded(term, units, start, end)) found.add(held);
        }
        const next = units[end];
        const child = next === undefined ? undefined : node.children?.get(wayOf(next.key));
        if (child === undefined) break;
        node = child;
      }
    }
  }

  /** Whether nobody holds any term. */
  get isEmpty(): boolean {
    return this.#root.children === undefined;
  }
}
