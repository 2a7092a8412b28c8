import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** A page of the documentation, the same as Markdown and as HTML. */
export interface DocsPage {
  /** Its path below /docs, without an ending: `guide/webhooks`. Empty: the index. */
  slug: string;
  title: string;
  summary: string;
  /** The heading of the index below which it is listed; undefined: another page links to it. */
  section: string | undefined;
  /** Links to other pages are relative, and end with `.md`. */
  markdown: string;
}

const FOLDER = new URL('../../../docs/', import.meta.url);

/** The pages of the folder docs/. Its README is the index: each page is an item of one of its lists. */
export function filePages(): DocsPage[] {
  const index = readFileSync(new URL('README.md', FOLDER), 'utf8');
  const pages: DocsPage[] = [];
  let section = '';
  // An item may be wrapped into several lines.
  for (const line of index.replaceAll(/\n {2,}/g, ' ').split('\n')) {
    section = /^## (.+)$/.exec(line)?.[1] ?? section;
    const [, title, path, summary] = /^- \[(.+?)\]\((.+?)\.md\): (.+?)\.?$/.exec(line) ?? [];
    if (title === undefined || path === undefined || summary === undefined) continue;
    const markdown = readFileSync(new URL(`${path}.md`, FOLDER), 'utf8');
    pages.push({ slug: path, title, summary, section, markdown: withoutComments(markdown) });
  }
  return pages;
}

/** The text of the index above its lists. */
export function indexIntroduction(): string {
  const index = readFileSync(new URL('README.md', FOLDER), 'utf8');
  return index.slice(0, index.indexOf('\n## ')).trim();
}

function withoutComments(markdown: string): string {
  return markdown.replaceAll(/<!--.*?-->\n*/gs, '');
}

const LINK = /(!?)\[([^[\]]*)\]\(([^)\s]+)\)/g;

/**
 * Makes the links of a page absolute. Links to files that are not served, such as source code, become plain text.
 *
 * @param url the address of the documentation
 * @param slugs of all pages
 */
export function withAbsoluteLinks({ slug, markdown }: DocsPage, url: string, slugs: ReadonlySet<string>): string {
  return markdown.replaceAll(LINK, (_link, image: string, text: string, target: string) => {
    if (/^(?:https?:|mailto:)/.test(target)) return `${image}[${text}](${target})`;
    if (target.startsWith('#')) return `[${text}](${url}/${slug}.md${target})`;
    if (target.startsWith('/')) return `[${text}](${url.replace(/\/docs$/, '')}${target})`;
    const [file = '', anchor] = target.split('#');
    const path = posix.join(posix.dirname(slug), file);
    if (image !== '') return `![${text}](${url}/${path})`;
    const page = path === 'README.md' ? '' : path.replace(/\.md$/, '');
    if (!slugs.has(page)) return text;
    return `[${text}](${url}${page === '' ? '' : `/${page}`}.md${anchor === undefined ? '' : `#${anchor}`})`;
  });
}
