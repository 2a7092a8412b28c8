import type { World } from '../world.ts';

/** What a route sees of a request: GET and POST parameters are one. */
export interface RouteRequest {
  world: World;
  method: string;
  path: string;
  query: URLSearchParams;
  /** The length of the URL as sent. */
  urlLength: number;
  now: number;
}
