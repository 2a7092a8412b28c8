import { postings, setPostings } from './found-terms.ts';
import type { IntHeap } from '../tables/int-heap.ts';

/**
 * A posting is a node in the doubly linked list of the monitors that watch for a term. The PREVIOUS of the first
 * posting is the negative address of the term.
 */
const NEXT = 0;
const PREVIOUS = 1;
const MONITOR = 2;
export const POSTING = 3;
/** Only in conditional postings: the texts in which the term counts, as bits. */
const TEXTS = 3;
export const CONDITIONAL_POSTING = 4;

/**
 * The first node of a term's list, if there are conditional postings: it has no monitor, and begins their list. So
 * other monitors pay nothing for them. The PREVIOUS of the first conditional posting is the negative address of this
 * node.
 */
const CONDITIONAL = 3;
const HEADER = 4;

export const nextPosting = (heap: IntHeap, posting: number): number => heap.get(posting + NEXT);
export const monitorOf = (heap: IntHeap, posting: number): number => heap.get(posting + MONITOR);
/** Whether the first posting of a term begins a list of conditional postings. */
export const isHeader = (heap: IntHeap, posting: number): boolean => posting !== 0 && heap.get(posting + MONITOR) === 0;
export const firstConditional = (heap: IntHeap, header: number): number => heap.get(header + CONDITIONAL);
export const textsOf = (heap: IntHeap, posting: number): number => heap.get(posting + TEXTS);

/** Adds a posting to the list of a term that counts in the usual texts. */
export function link(heap: IntHeap, posting: number, record: number, term: number): void {
  const first = postings(heap, term);
  heap.set(posting + MONITOR, record);
  if (isHeader(heap, first)) insert(heap, posting, first, heap.get(first + NEXT));
  else {
    insert(heap, posting, -term, first);
    setPostings(heap, term, posting);
  }
}

export function unlink(heap: IntHeap, posting: number): void {
  const next = heap.get(posting + NEXT);
  const previous = heap.get(posting + PREVIOUS);
  if (previous < 0) setPostings(heap, -previous, next);
  else heap.set(previous + NEXT, next);
  if (next !== 0) heap.set(next + PREVIOUS, previous);
}

/** Adds a posting that counts only in some texts. @param texts a bit for each */
export function linkConditional(heap: IntHeap, posting: number, record: number, term: number, texts: number): void {
  let header = postings(heap, term);
  if (!isHeader(heap, header)) {
    header = heap.allocate(HEADER);
    insert(heap, header, -term, postings(heap, term));
    setPostings(heap, term, header);
  }
  heap.set(posting + MONITOR, record);
  heap.set(posting + TEXTS, texts);
  insert(heap, posting, -header, heap.get(header + CONDITIONAL));
  heap.set(header + CONDITIONAL, posting);
}

export function unlinkConditional(heap: IntHeap, posting: number): void {
  const next = heap.get(posting + NEXT);
  const previous = heap.get(posting + PREVIOUS);
  if (next !== 0) heap.set(next + PREVIOUS, previous);
  if (previous > 0) heap.set(previous + NEXT, next);
  else {
    heap.set(-previous + CONDITIONAL, next);
    if (next !== 0) return;
    unlink(heap, -previous);
    heap.free(-previous, HEADER);
  }
}

/** Puts a node between two others. @param previous negative for the head of the list */
function insert(heap: IntHeap, node: number, previous: number, next: number): void {
  heap.set(node + NEXT, next);
  heap.set(node + PREVIOUS, previous);
  if (previous > 0) heap.set(previous + NEXT, node);
  if (next !== 0) heap.set(next + PREVIOUS, node);
}
