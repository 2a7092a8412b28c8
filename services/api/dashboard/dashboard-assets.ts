import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Router } from 'express';
import { methodNotAllowed } from '../http/route.ts';

/** The addresses of the files that every page uses. */
export interface AssetPaths {
  style: string;
  script: string;
}

const YEAR_SECONDS = 31_536_000;
const FILES = { style: ['style.css', 'text/css'], script: ['dashboard.js', 'text/javascript'] } as const;

/**
 * Serves the style sheet and the script. Their names hold a hash of their content, so that browsers keep them for a
 * year and see a new version at once.
 */
export function createAssets({ mount, folder }: { mount: string; folder: string }): {
  router: Router;
  paths: AssetPaths;
} {
  const router = Router();
  const serve = (name: keyof typeof FILES): string => {
    const [file, type] = FILES[name];
    const body = readFileSync(new URL(`assets/${file}`, import.meta.url));
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
    const path = `/assets/${hash}/${file}`;
    router.get(`${mount}${path}`, (_request, response) => {
      response.set('Cache-Control', `public, max-age=${YEAR_SECONDS}, immutable`);
      response.type(`${type}; charset=utf-8`).send(body);
    });
    router.all(`${mount}${path}`, methodNotAllowed(['GET', 'HEAD']));
    return folder + path;
  };
  return { router, paths: { style: serve('style'), script: serve('script') } };
}
