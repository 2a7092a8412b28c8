/**
 * All rows, page by page in the order of their ids, until a page is empty. The page that follows is read while one is
 * worked on.
 *
 * @param read the next page after this id; '' is before all
 */
export async function* keysetPages<T extends { id: string }>(
  read: (afterId: string) => Promise<T[]>,
): AsyncGenerator<T[]> {
  let next: Promise<T[]> | undefined = read('');
  while (next) {
    const page: T[] = await next;
    const last = page.at(-1);
    next = last && read(last.id);
    // It is thrown when this page is done; until then nobody awaits it.
    next?.catch(() => undefined);
    if (last) yield page;
  }
}
