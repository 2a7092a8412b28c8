import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Router } from 'express';
import { methodNotAllowed } from './route.ts';

const YEAR_SECONDS = 31_536_000;
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

/** Style sheets and scripts of the pages, by name; styles refer to others relatively. */
export type Assets = readonly (readonly [name: string, body: string | Buffer])[];

/**
 * Serves files under a path that holds a hash of all of them, so that browsers keep them for a year.
 *
 * @param mount the path below which they are served: `/dashboard/assets`
 * @returns the path of the folder, without a trailing slash
 */
export function serveAssets(router: Router, mount: string, assets: Assets): string {
  const hash = createHash('sha256');
  for (const [name, body] of assets) hash.update(name).update(body);
  const folder = `${mount}/${hash.digest('hex').slice(0, 12)}`;
  for (const [name, body] of assets) {
    router.get(`${folder}/${name}`, (_request, response) => {
      response.set('Cache-Control', `public, max-age=${YEAR_SECONDS}, immutable`);
      response.type(TYPES[name.split('.').at(-1)!]!).send(body);
    });
    router.all(`${folder}/${name}`, methodNotAllowed(['GET', 'HEAD']));
  }
  return folder;
}

/** Identifies bytes that do not change. Weak, because compressed and plain answers have the same. */
export function weakEtag(bytes: Buffer): string {
  return `W/"${createHash('sha256').update(bytes).digest('base64url')}"`;
}

const DASHBOARD = join(import.meta.dirname, '../dashboard/assets');

/** Files below services/api/dashboard/assets, joined. */
export function dashboardFiles(...names: readonly string[]): string {
  return names.map((name) => readFileSync(join(DASHBOARD, name), 'utf8')).join('\n');
}

const INTER = dirname(createRequire(import.meta.url).resolve('@fontsource-variable/inter/index.css'));

/** The declarations of the font, which refer to its files relatively. */
export const FONT_STYLE = readFileSync(join(INTER, 'index.css'), 'utf8');

/** A file for each alphabet. A browser loads those that a page needs. */
export function fontFiles(): [string, Buffer][] {
  const names = readdirSync(join(INTER, 'files')).filter((name) => name.endsWith('-wght-normal.woff2'));
  return names.map((name) => [`files/${name}`, readFileSync(join(INTER, 'files', name))]);
}
