import type { World } from '../world.ts';

/** The parts of a request that routes use. GET and POST parameters are merged. */
export interface RouteRequest {
  world: World;
  method: string;
  path: string;
  query: URLSearchParams;
  /** The length of the URL as sent. */
  urlLength: number;
  now: number;
  /** Listings are this much older than `now`. */
  staleMs: number;
}
