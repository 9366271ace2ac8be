import dgram from 'node:dgram';
import dns from 'node:dns';
import { Socket } from 'node:net';
import { currentFaultOwner } from '../contract/internal.ts';
import { currentSession } from './session.ts';

/** Error for a connection that would leave a sandbox. */
export class SandboxError extends Error {
  readonly code = 'SANDBOX_REFUSED';
}

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Patched = Record<string, Method>;

/** Number of open sandboxes that refuse connections. */
let open = 0;
let restore: (() => void) | null = null;

/**
 * Refuses every connection, datagram and service lookup that code in a session starts, whatever library starts it. Code
 * outside of sessions, such as another gateway of the process, is not affected.
 * @returns a function that ends this; the last one restores the system's functions.
 */
export function refuseConnections(): () => void {
  restore ??= patch();
  open += 1;
  let isEnded = false;
  return () => {
    if (isEnded) return;
    isEnded = true;
    open -= 1;
    if (open > 0) return;
    restore?.();
    restore = null;
  };
}

/** Returns the refusal of a destination by the current session; null outside of sessions. */
function refusal(address: () => string): SandboxError | null {
  const session = currentSession();
  if (!session) return null;
  const owner = currentFaultOwner();
  const name = owner ? `${owner.place} of ${owner.describe()}` : 'a component';
  const to = address();
  session.refused({ owner: name, address: to });
  return new SandboxError(`the sandbox refuses connections: ${name}, to ${to}`);
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
    replace(dns.promises.Resolver.prototype, 'resolveSrv', (original) => {
      return function resolveSrv(this: unknown, ...args) {
        const error = refusal(() => `the name server, for ${args[0]}`);
        return error ? Promise.reject(error) : original.apply(this, args);
      };
    }),
  ];
  return () => {
    for (const end of ends) end();
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

/** The arguments of `connect` can be wrapped in an array, as `net.connect` does. */
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
