import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Router, static as serveFolder } from 'express';
import type { RequestHandler } from 'express';
import { Marked, Renderer } from 'marked';
import type { Tokens } from 'marked';
import { html, trustedHtml } from '../../../shared/http/html.ts';
import type { Html } from '../../../shared/http/html.ts';
import { FONT_STYLE, fontFiles, serveAssets, weakEtag } from '../http/assets.ts';
import { brand, document, SHARED_STYLE } from '../../../shared/http/page.ts';
import { methodNotAllowed } from '../http/route.ts';
import type { OpenApiDocument } from '../openapi/openapi-shape.ts';
import { apiReference } from './api-reference.ts';
import { filePages, indexIntroduction, withAbsoluteLinks } from './docs-pages.ts';
import type { DocsPage } from './docs-pages.ts';

export interface DocsDeps {
  /** The public address of the API, without a trailing slash. */
  baseUrl: string;
  dashboardUrl: string;
  describe: () => OpenApiDocument;
}

const MOUNT = '/docs';
const PATHS = [MOUNT, `${MOUNT}.md`, `${MOUNT}/*path`, '/llms.txt', '/llms-full.txt'];
const FIRST_START = 'http://localhost:8080';
/** Everything comes from this origin, and there are no scripts. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
/** Pages change only with a deployment. */
const CACHE_CONTROL = 'public, max-age=300';
const STYLE = [FONT_STYLE, SHARED_STYLE, readFileSync(join(import.meta.dirname, 'docs.css'), 'utf8')].join('\n');
const SCREENSHOTS = fileURLToPath(new URL('../../../docs/screenshots', import.meta.url));

/**
 * GET /docs and what is below it: the guides and the API reference, as pages that need no scripts, and each also as
 * Markdown; GET /llms.txt and /llms-full.txt: the same for language models (https://llmstxt.org).
 */
export function createDocsRouter(deps: DocsDeps): Router {
  const router = Router({ strict: true });
  const assets = serveAssets(router, `${MOUNT}/assets`, [['style.css', STYLE], ...fontFiles()]);
  let made: Documentation | undefined;
  const documentation = () => (made ??= new Documentation(deps, assets));
  router.get(`${MOUNT}/`, (_request, response) => {
    response.redirect(301, '../docs');
  });
  router.use(`${MOUNT}/screenshots`, serveFolder(SCREENSHOTS, { index: false, redirect: false, maxAge: '1h' }));
  const respond: RequestHandler = ({ path }, response, next) => {
    const found = documentation().find(path);
    if (found === undefined) {
      next('router');
      return;
    }
    const { type, bytes, etag } = found;
    if (type === 'text/html') response.set('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    // Express answers 304 when the client has this version.
    response.set({ 'Cache-Control': CACHE_CONTROL, ETag: etag }).type(`${type}; charset=utf-8`).send(bytes);
  };
  // One route each: metrics name a route by its path.
  for (const path of PATHS) router.get(path, respond);
  router.all(PATHS, methodNotAllowed(['GET', 'HEAD']));
  return router;
}

interface DocsResponse {
  type: string;
  bytes: Buffer;
  etag: string;
}

/** Makes a response when it is first asked for. */
function once(type: string, make: () => string): () => DocsResponse {
  let made: DocsResponse | undefined;
  return () => {
    if (made === undefined) {
      const bytes = Buffer.from(make());
      made = { type, bytes, etag: weakEtag(bytes) };
    }
    return made;
  };
}

/** All pages, collected when the first is asked for. */
class Documentation {
  readonly #deps: DocsDeps;
  readonly #assets: string;
  readonly #url: string;
  /** The path of the API's address, which a proxy may prefix. */
  readonly #prefix: string;
  /** With absolute links, the index first. */
  readonly #pages: readonly DocsPage[];
  /** By path. All responses share the bytes: a client that does not read its response costs no copy. */
  readonly #responses: ReadonlyMap<string, () => DocsResponse>;

  constructor(deps: DocsDeps, assets: string) {
    this.#deps = deps;
    this.#assets = assets;
    this.#url = deps.baseUrl + MOUNT;
    this.#prefix = new URL(deps.baseUrl).pathname.replace(/\/$/, '');
    const pages = [...filePages().map((page) => withAddresses(page, deps)), ...apiReference(deps.describe())];
    const listed = sections(pages)
      .map(([section, items]) => `## ${section}\n\n${items.map(listItem).join('\n')}`)
      .join('\n\n');
    const index = { slug: '', title: 'Documentation', summary: '', section: undefined };
    const all = [{ ...index, markdown: `${indexIntroduction()}\n\n${listed}` }, ...pages];
    const slugs = new Set(all.map(({ slug }) => slug));
    this.#pages = all.map((page) => ({ ...page, markdown: `${withAbsoluteLinks(page, this.#url, slugs).trim()}\n` }));
    this.#responses = new Map([
      ...this.#pages.flatMap((page) => {
        const path = page.slug === '' ? MOUNT : `${MOUNT}/${page.slug}`;
        return [
          [path, once('text/html', () => this.#page(page))],
          [`${path}.md`, once('text/markdown', () => page.markdown)],
        ] as const;
      }),
      ['/llms.txt', once('text/plain', () => this.#list())],
      ['/llms-full.txt', once('text/plain', () => this.#everything())],
    ]);
  }

  find(path: string): DocsResponse | undefined {
    return this.#responses.get(path)?.();
  }

  /** The index with the pages that it leaves out: those of single operations. */
  #list(): string {
    const others = this.#pages.filter(({ slug, section }) => slug !== '' && section === undefined);
    const operations = others.map(({ title, slug }) => `- [${title}](${this.#url}/${slug}.md)`).join('\n');
    return `${this.#pages[0]!.markdown}\n## Operations\n\n${operations}\n`;
  }

  #everything(): string {
    return this.#pages.map(({ markdown }) => markdown).join('\n---\n\n');
  }

  #page(page: DocsPage): string {
    const renderer = new PageRenderer(this.#url, this.#prefix + MOUNT);
    const body = trustedHtml(
      new Marked().parse(page.markdown, { async: false, renderer }).replace(/^<h1[^>]*>.*?<\/h1>\n/, ''),
    );
    const head = html`<link rel="stylesheet" href="${this.#prefix + this.#assets}/style.css" />
      <link rel="alternate" type="text/markdown" href="${this.#pathOf(page)}.md" />`;
    const heading = /^# (.+)$/m.exec(page.markdown)?.[1] ?? page.title;
    const content = this.#columns(page, body);
    return String(document({ title: heading, head, layout: 'text', header: this.#header(), content }));
  }

  #pathOf({ slug }: DocsPage): string {
    return this.#prefix + MOUNT + (slug === '' ? '' : `/${slug}`);
  }

  #header(): Html {
    return html`<a class="skip" href="#content">Skip to the content</a>
      <header class="top">
        <div class="bar">
          ${brand(`${this.#deps.dashboardUrl}/dashboard`)}
          <a href="${this.#prefix + MOUNT}">Documentation</a>
          <a class="to-pages" href="#pages">All pages</a>
        </div>
      </header>`;
  }

  #columns(page: DocsPage, body: Html): Html {
    const lists = sections(this.#pages).map(
      ([section, items]) =>
        html`<h2>${section}</h2>
          <ul>
            ${items.map(
              (item) =>
                html`<li>
                  <a href="${this.#pathOf(item)}" ${item === page && html`aria-current="page"`}>${item.title}</a>
                </li>`,
            )}
          </ul>`,
    );
    return html`<div class="docs">
      <article>
        ${body}
        <p class="soft">This page as <a href="${this.#pathOf(page)}.md">Markdown</a></p>
      </article>
      <nav id="pages" aria-label="All pages">${lists}</nav>
    </div>`;
  }
}

/** The files name the addresses of a first start; a page names those of this installation. */
function withAddresses(page: DocsPage, { baseUrl, dashboardUrl }: DocsDeps): DocsPage {
  const markdown = page.markdown
    .replaceAll(`${FIRST_START}/dashboard`, () => `${dashboardUrl}/dashboard`)
    .replaceAll(FIRST_START, () => baseUrl);
  return { ...page, markdown };
}

function sections(pages: readonly DocsPage[]): [string, DocsPage[]][] {
  const listed = pages.filter(({ section }) => section !== undefined);
  return [...Map.groupBy(listed, ({ section }) => section!)];
}

const listItem = ({ title, slug, summary }: DocsPage) => `- [${title}](${slug}.md): ${summary}.`;

/** Markdown as HTML that keyboards can scroll and that links can point into. Raw HTML is shown as it is written. */
class PageRenderer extends Renderer {
  readonly #url: string;
  readonly #path: string;
  readonly #ids = new Map<string, number>();

  constructor(url: string, path: string) {
    super();
    this.#url = url;
    this.#path = path;
  }

  override heading({ tokens, depth, text }: Tokens.Heading): string {
    return `<h${depth} id="${this.#idOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  }

  /** As GitHub makes them. */
  #idOf(text: string): string {
    const id = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const count = this.#ids.get(id) ?? 0;
    this.#ids.set(id, count + 1);
    return count === 0 ? id : `${id}-${count}`;
  }

  override link(token: Tokens.Link): string {
    const own = token.href === `${this.#url}.md` || token.href.startsWith(`${this.#url}/`);
    if (!own) return super.link(token);
    const href = this.#path + token.href.slice(this.#url.length).replace(/\.md(?=#|$)/, '');
    return super.link({ ...token, href });
  }

  override image(token: Tokens.Image): string {
    return super.image({ ...token, href: token.href.replace(this.#url, () => this.#path) });
  }

  override code(token: Tokens.Code): string {
    return super.code(token).replace('<pre>', '<pre tabindex="0">');
  }

  override table(token: Tokens.Table): string {
    return `<div class="scroll" tabindex="0" role="group" aria-label="Table">${super.table(token)}</div>\n`;
  }

  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return String(html`${text}`);
  }
}
