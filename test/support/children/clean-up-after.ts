/**
 * Does the work and then each step of the clean-up in turn, whatever fails: a process that hangs at its end must not
 * leave others running, nor hide why the work failed. The parts of a step run at the same time.
 *
 * @throws what failed; an AggregateError when several did, with the error of the work first
 */
export async function cleanUpAfter(
  work: () => Promise<void>,
  steps: readonly (() => Promise<unknown>[])[],
): Promise<void> {
  const errors: unknown[] = [];
  for (const step of [() => [work()], ...steps]) {
    for (const end of await Promise.allSettled(step())) if (end.status === 'rejected') errors.push(end.reason);
  }
  if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join('; '));
  if (errors.length === 1) throw errors[0];
}
