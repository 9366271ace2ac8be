import { placesOf, stackOf } from './source-place.ts';

/** Somebody who knows plugins from files. */
export interface Owner {
  /** Takes a failure that nobody waited for. @param files of its stack, innermost first. @returns false where it is none of its plugins'. */
  takes(error: unknown, files: readonly string[]): boolean;
}

const owners = new Set<Owner>();

/**
 * From now on failures that nobody waits for, and whose stack leads to a plugin or to no file at all, do not end the process.
 * Any other does what it did before: ends the process, unless somebody else listens.
 */
export function ownStrayErrors(owner: Owner): void {
  if (owners.size === 0) {
    process.on('unhandledRejection', onRejection);
    process.on('uncaughtException', onException);
  }
  owners.add(owner);
}

export function disownStrayErrors(owner: Owner): void {
  owners.delete(owner);
  if (owners.size > 0) return;
  process.off('unhandledRejection', onRejection);
  process.off('uncaughtException', onException);
}

function isTaken(error: unknown): boolean {
  const files = placesOf(stackOf(error)).map(({ file }) => file);
  for (const owner of owners) if (owner.takes(error, files)) return true;
  return false;
}

function onRejection(reason: unknown): void {
  if (isTaken(reason) || process.listenerCount('unhandledRejection') > 1) return;
  // As where nobody listens: it becomes an exception.
  throw reason;
}

function onException(error: unknown): void {
  if (isTaken(error) || process.listenerCount('uncaughtException') > 1) return;
  process.off('uncaughtException', onException);
  process.nextTick(() => {
    throw error;
  });
}
