import { currentFaultOwner, type FaultOwner } from '../contract/internal.ts';
import { placesOf, stackOf } from './source-place.ts';

/** Owner of plugins from files. */
export interface Owner {
  /**
   * Claims an uncaught error. @param files files in its stack, innermost first. @returns false if the error is caused
   * by other code.
   */
  takes(error: unknown, files: readonly string[]): boolean;
}

/** Handles the errors that no plugin owner claims. @param owner owner of the failing code; null when unknown. */
export type FaultHandler = (error: unknown, owner: FaultOwner | null) => void;

const owners = new Set<Owner>();
const handlers: FaultHandler[] = [];

/**
 * Claims uncaught errors of plugins from files, whose stack leads to a plugin or to no file at all. Other errors go to
 * the handler of the process; without one they end the process, unless another listener exists.
 */
export function ownStrayErrors(owner: Owner): void {
  owners.add(owner);
  listen();
}

export function disownStrayErrors(owner: Owner): void {
  owners.delete(owner);
  listen();
}

/** Passes uncaught errors that are not a plugin's to a handler; if several are registered, to the last one. @returns a function that removes the handler. */
export function handleFaults(handler: FaultHandler): () => void {
  handlers.push(handler);
  listen();
  return () => {
    const at = handlers.indexOf(handler);
    if (at >= 0) handlers.splice(at, 1);
    listen();
  };
}

/** Listens for uncaught errors while an owner or a handler is registered. */
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
  // Rethrows the rejection as an exception, which is what Node.js does without a listener.
  throw reason;
}

function onException(error: unknown): void {
  if (isTaken(error) || process.listenerCount('uncaughtException') > 1) return;
  process.off('uncaughtException', onException);
  process.nextTick(() => {
    throw error;
  });
}
