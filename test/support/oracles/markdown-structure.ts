import { fromMarkdown } from 'mdast-util-from-markdown';
import type { Post } from '../../../schemas/messages/forum-post.ts';
import { inPageOrder } from '../../../services/api/reading/comment-tree.ts';

type Root = ReturnType<typeof fromMarkdown>;
type Node = Root | Root['children'][number];

/** The structure that an independent CommonMark parser finds in a document. */
export interface MarkdownStructure {
  /** Level and text. */
  headings: string[];
  /** Level of the list, and the first line of the item. */
  items: string[];
  /** Nodes of kinds that our documents must not have, with their source. */
  foreign: string[];
  code: string[];
}

const FOREIGN = new Set(['html', 'definition', 'thematicBreak', 'linkReference', 'imageReference', 'table']);

export function markdownStructure(markdown: string): MarkdownStructure {
  const structure: MarkdownStructure = { headings: [], items: [], foreign: [], code: [] };
  visit(fromMarkdown(markdown), 0, structure, markdown);
  return structure;
}

/** The expected structure of a post's document, whatever its texts are. */
export function expectedStructure(post: Post): { headings: number[]; items: string[] } {
  const ours = [...post.media.map(() => ''), ...(post.poll?.options ?? []).map(() => '')].map(() => '0');
  const comments = inPageOrder(post.comments).map(({ id, depth }) => `${Math.min(depth, 8)} t1_${id}`);
  return { headings: [1, 2], items: [...ours, ...comments] };
}

/** Headings by level, items by level and comment: for comparison with `expectedStructure`. */
export function outlineOf({ headings, items }: MarkdownStructure): { headings: number[]; items: string[] } {
  return {
    headings: headings.map((heading) => Number(heading[0])),
    items: items.map((item) => {
      const [, level = '', id = ''] =
        /^(\d+) (?:u\/.* · (t1_\w+)(?: \(depth \d+, reply to t[13]_\w+\))?$)?/s.exec(item) ?? [];
      return `${level} ${id}`.trimEnd();
    }),
  };
}

function visit(node: Node, level: number, structure: MarkdownStructure, markdown: string): void {
  if (FOREIGN.has(node.type) || (node.type === 'list' && node.ordered === true)) {
    structure.foreign.push(`${node.type}: ${sourceOf(node, markdown)}`);
  }
  if (node.type === 'heading') structure.headings.push(`${node.depth} ${textOf(node)}`);
  if (node.type === 'code') structure.code.push(node.value);
  if (node.type === 'listItem')
    structure.items.push(`${level - 1} ${node.children[0] ? textOf(node.children[0]) : ''}`);
  if (!('children' in node)) return;
  for (const child of node.children) visit(child, level + (child.type === 'list' ? 1 : 0), structure, markdown);
}

function textOf(node: Node): string {
  if ('value' in node) return node.value;
  return 'children' in node ? node.children.map(textOf).join('') : '';
}

function sourceOf({ position }: Node, markdown: string): string {
  return markdown.slice(position?.start.offset, position?.end.offset);
}
