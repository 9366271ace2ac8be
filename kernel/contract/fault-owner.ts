import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

/** The owner of an uncaught error, such as a request, a connection, a component or a queue message. */
export interface FaultOwner {
  /** Kind of owner, such as `request`: the label by which internal errors are counted. */
  readonly place: string;
  /** The owner in the log, such as `GET /users`. */
  describe(): string;
  /** Closes the owner, whose state is unknown after the error. Must not affect anything else. */
  fail(error: unknown): void;
}

const owners = new AsyncLocalStorage<FaultOwner>();

/**
 * Runs a function for an owner: an uncaught exception or unhandled rejection in it, or in any callback, timer, event handler
 * or promise that it starts, closes that owner alone. Costs 0.15 µs.
 */
export function runOwned<A extends unknown[], T>(owner: FaultOwner, run: (...args: A) => T, ...args: A): T {
  return owners.run(owner, run, ...args);
}

/** Owner of the code that is running; null without one. */
export function currentFaultOwner(): FaultOwner | null {
  return owners.getStore() ?? null;
}

/** Creates the owner of a connection. @param name the other end, such as `host:port`. @param close receives the error. */
export function connectionOwner(place: string, name: string, close: (error: Error) => void): FaultOwner {
  return {
    place,
    describe: () => name,
    fail: (error) => close(error instanceof Error ? error : new Error(String(error))),
  };
}

/**
 * Runs all handlers of an emitter for an owner. Needed for accepted connections: their events run in the context of the
 * server, not of the code that listens for them. Costs 0.15 µs per event.
 */
export function ownEvents(emitter: EventEmitter, owner: FaultOwner): void {
  const { emit } = emitter;
  emitter.emit = (...args) => runGuarded(owner, () => emit.apply(emitter, args)) ?? true;
}

/**
 * The request of each accepted connection that serves only this request until it closes, by the owner of the
 * connection.
 */
const requests = new WeakMap<FaultOwner, string>();

/** Adds the request that an accepted connection serves from now on, such as a WebSocket's, to its owner's name in the log. */
export function nameRequest(owner: FaultOwner, request: string): void {
  requests.set(owner, request);
}

/**
 * Begins to use a connection that a listening port has accepted: an uncaught error in one of its handlers destroys that
 * connection alone.
 */
export function beginOwned(place: string, socket: Socket, begin: () => void): void {
  // Node.js removes its own error listener when it hands over a connection, which the client may reset at any time.
  socket.on('error', ignored);
  const { remoteAddress, remotePort } = socket;
  const name = remoteAddress === undefined ? 'a local client' : `${remoteAddress}:${remotePort}`;
  const owner: FaultOwner = {
    ...connectionOwner(place, name, () => socket.destroy()),
    describe: () => (requests.has(owner) ? `${name} (${requests.get(owner)})` : name),
  };
  ownEvents(socket, owner);
  runGuarded(owner, begin);
}

/** The error needs no handling because the connection closes after it. */
function ignored(): void {}

/**
 * Like `runOwned`, but an exception of the function itself also belongs to the owner. The exception is rethrown
 * asynchronously, in the context of the owner: a synchronous one would reach the process outside of this context.
 * @returns undefined after an exception.
 */
export function runGuarded<T>(owner: FaultOwner, run: () => T): T | undefined {
  return owners.run(owner, () => {
    try {
      return run();
    } catch (error) {
      process.nextTick(() => {
        throw error;
      });
      return undefined;
    }
  });
}

/**
 * Opens a connection that owns its handlers: an uncaught error in one of them destroys that connection alone.
 * @param name the other end, such as `host:port`.
 */
export function openOwned<C extends { destroy(error?: Error): unknown }>(
  place: string,
  name: string,
  open: () => C,
): C {
  let connection: C | null = null;
  connection = runOwned(
    connectionOwner(place, name, (error) => connection?.destroy(error)),
    open,
  );
  return connection;
}

/** Runs a function for an owner without a connection to close: an uncaught error ends only the task that caused it. */
export function runAs<T>(place: string, name: string, run: () => T): T {
  return runOwned(connectionOwner(place, name, ignored), run);
}

/**
 * Runs a function without an owner, for timers that outlive the client or change that starts them: an error in them counts
 * for the process, and they do not keep that owner in memory.
 */
export function runUnowned<T>(run: () => T): T {
  return owners.run(undefined as unknown as FaultOwner, run);
}

/**
 * Binds a function to the owner of the code that calls this one, for work that later callers only trigger.
 * @example this.#flush = boundToOwner(() => this.#send());
 */
export function boundToOwner<A extends unknown[], T>(run: (...args: A) => T): (...args: A) => T {
  const owner = owners.getStore();
  return (...args) => owners.run(owner as FaultOwner, run, ...args);
}
