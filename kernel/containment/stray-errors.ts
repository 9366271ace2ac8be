import { currentFaultOwner, type FaultOwner } from '../contract/internal.ts';
import { placesOf, stackOf } from './source-place.ts';

/** Knows plugins from files. */
export interface Owner {
  /** Takes an error that nothing caught. @param files of its stack, innermost first. @returns false for an error of other code. */
  takes(error: unknown, files: readonly string[]): boolean;
}

/** Takes every error that no plugin takes. @param owner what it belongs to; null when unknown. */
export type FaultHandler = (error: unknown, owner: FaultOwner | null) => void;

const owners = new Set<Owner>();
const handlers: FaultHandler[] = [];

/**
 * Takes uncaught errors of plugins from files, whose stack leads to a plugin or to no file at all. Any other goes to the
 * handler of the process; without one it ends the process, unless somebody else listens.
 */
export function ownStrayErrors(owner: Owner): void {
  owners.add(owner);
  listen();
}

export function disownStrayErrors(owner: Owner): void {
  owners.delete(owner);
  listen();
}

/** Hands every uncaught error that is not a plugin's to a handler; of several the last one. @returns ends that. */
export function handleFaults(handler: FaultHandler): () => void {
  handlers.push(handler);
  listen();
  return () => {
    const at = handlers.indexOf(handler);
    if (at >= 0) handlers.splice(at, 1);
    listen();
  };
}

/** Listens while somebody takes errors. */
function listen(): void {
  process.off('unhandledRejection', onRejection);
  process.off('uncaughtException', onException);
  if (owners.size + handlers.length === 0) return;
  process.on('unhandledRejection', onRejection);
  process.on('uncaughtException', onException);
}

function isTaken(error: unknown): boolean {
  const files = placesOf(stackOf(error)).map(({ file }) => file);
  for (const owner of owners) if (owner.takes(error, files)) return true;
  const handler = handlers.at(-1);
  if (!handler) return false;
  handler(error, currentFaultOwner());
  return true;
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
