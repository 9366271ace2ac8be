import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { sharedPatch } from '../values/shared-patch.ts';

/** Selects the code that cannot open connections. */
export interface ConnectionGuard {
  /** True for running code whose connections are refused. */
  isActive(): boolean;
  /** True for running code that can look up services although its connections are refused. Default: false. */
  permitsLookups?(): boolean;
  /** The error of a refused connection. @param address destination, for example `10.0.0.1:6379` or `/run/server.sock`. */
  refuse(address: string): Error;
}

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Patched = Record<string, Method>;

let guard: ConnectionGuard | null = null;
/** True while `unguarded` runs. */
let isOpen = false;
const patched = sharedPatch(patch);

/** True if connections of the running code are refused. */
export function refusesConnections(): boolean {
  return guard?.isActive() === true;
}

/**
 * Refuses every connection, datagram and service lookup of code for which the guard is active, regardless of the
 * library that starts it. A process has one guard.
 * @returns a function that removes the guard; the last removal restores the original network functions of Node.js.
 */
export function guardConnections(installed: ConnectionGuard): () => void {
  guard = installed;
  return patched();
}

/** Runs a function whose connections are permitted: those that it opens before it returns. */
export function unguarded<T>(open: () => T): T {
  const before = isOpen;
  isOpen = true;
  try {
    return open();
  } finally {
    isOpen = before;
  }
}

/** Returns the error for a destination that is not permitted; null if the connection is permitted. */
function refusal(address: () => string): Error | null {
  return !isOpen && guard?.isActive() ? guard.refuse(address()) : null;
}

function patch(): () => void {
  const ends = [
    replace(Socket.prototype, 'connect', (original) => {
      return function connect(this: unknown, ...args) {
        const error = refusal(() => destinationOf(args));
        if (!error) return original.apply(this, args);
        process.nextTick(() => (this as Socket).destroy(error));
        return this;
      };
    }),
    replace(dgram.Socket.prototype, 'send', (original) => {
      return function send(this: unknown, ...args) {
        const error = refusal(() => datagramOf(args));
        if (!error) return original.apply(this, args);
        const last = args.at(-1);
        if (typeof last === 'function') process.nextTick(() => last(error));
        return undefined;
      };
    }),
    replace(dns.promises.Resolver.prototype, 'resolveSrv', refusingLookups),
    replace(dns.promises, 'lookup', refusingLookups),
  ];
  // Modules that import a function by its name also get the replaced function.
  syncBuiltinESMExports();
  return () => {
    for (const end of ends) end();
    syncBuiltinESMExports();
    guard = null;
  };
}

function refusingLookups(original: Method): Method {
  return function look(this: unknown, ...args) {
    const error = guard?.permitsLookups?.() ? null : refusal(() => `the name server, for ${args[0]}`);
    return error ? Promise.reject(error) : original.apply(this, args);
  };
}

function replace(holder: object, name: string, wrap: (original: Method) => Method): () => void {
  const methods = holder as Patched;
  const original = methods[name]!;
  methods[name] = wrap(original);
  return () => {
    methods[name] = original;
  };
}

/** The arguments of `connect` may be wrapped in an array, as `net.connect` does internally. */
function destinationOf([first, second]: readonly unknown[]): string {
  const given = Array.isArray(first) ? first[0] : first;
  if (typeof given !== 'object' || given === null) return isPath(given) ? given : `${second ?? 'localhost'}:${given}`;
  const { path, host = 'localhost', port } = given as { path?: string; host?: string; port?: number };
  return path ?? `${host}:${port}`;
}

function isPath(given: unknown): given is string {
  return typeof given === 'string' && !/^\d+$/.test(given);
}

function datagramOf(args: readonly unknown[]): string {
  const port = args.findLast((each) => typeof each === 'number');
  const host = args.slice(1).find((each) => typeof each === 'string');
  return `${host ?? 'localhost'}:${port}`;
}
