/**
 * Yields all rows page by page in id order and stops at an empty page. The next page is read while the caller works on
 * the present one.
 *
 * @param read reads the page after the given id; '' reads the first page
 */
export async function* keysetPages<T extends { id: string }>(
  read: (afterId: string) => Promise<T[]>,
): AsyncGenerator<T[]> {
  let next: Promise<T[]> | undefined = read('');
  while (next) {
    const page: T[] = await next;
    const last = page.at(-1);
    next = last && read(last.id);
    // Nothing awaits this promise until the caller is done with the page; its error is thrown then.
    next?.catch(() => undefined);
    if (last) yield page;
  }
}
