import type { Request } from 'express';

/** The value of a request's cookie. When several have its name it is the first, which has the longest path. */
export function cookieOf(request: Request, name: string): string | undefined {
  const pairs = (request.get('Cookie') ?? '').split(/; */);
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}
