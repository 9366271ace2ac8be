import dns from 'node:dns';
import { Socket } from 'node:net';
import type { Replace } from './files.ts';
import type { Failing, Failures } from './plan.ts';

/** Makes connections and lookups fail as planned. TLS, HTTP/2 and the clients of brokers use the same sockets. */
export function wrapNetwork(failures: Failures, replace: Replace): void {
  wrapSockets(failures, replace);
  wrapLookup(failures, replace);
  wrapResolvers(failures, replace);
}

/** `host:port` of a connection, or the path of its socket. */
function peerOf(options: unknown): string {
  const [first] = Array.isArray(options) ? options : [options];
  const { host = 'localhost', port, path } = Object(first) as { host?: string; port?: number; path?: string };
  return path ?? `${host}:${port ?? first}`;
}

function wrapSockets(failures: Failures, replace: Replace): void {
  const peers = new WeakMap<object, string>();
  const peer = (socket: Socket) => peers.get(socket) ?? `${socket.remoteAddress}:${socket.remotePort}`;

  replace(Socket.prototype, 'connect', (original) => {
    return function connect(this: Socket, ...given) {
      const to = peerOf(given[0]);
      peers.set(this, to);
      const failing = failures.decide('connect', to);
      if (!failing) return original.apply(this, given);
      (this as { connecting: boolean }).connecting = true;
      setTimeout(() => {
        if (this.destroyed) return;
        if (failing.error) this.destroy(failing.error);
        else original.apply(this, given);
      }, failing.delayMs);
      return this;
    };
  });

  for (const name of ['_write', '_writev']) {
    replace(Socket.prototype, name, (original) => {
      return function write(this: Socket, ...given) {
        const failing = failures.decide('send', peer(this));
        if (!failing) return original.apply(this, given);
        const done = given.at(-1) as (error: Error) => void;
        setTimeout(() => (failing.error ? done(failing.error) : original.apply(this, given)), failing.delayMs);
        return undefined;
      };
    });
  }

  replace(Socket.prototype, 'push', (original) => {
    return function push(this: Socket, ...given) {
      const failing = given[0] === null ? null : failures.decide('receive', peer(this));
      if (!failing?.error) return original.apply(this, given);
      this.destroy(failing.error);
      return false;
    };
  });
}

type Found = (error: Error | null, address?: unknown, family?: number) => void;

function wrapLookup(failures: Failures, replace: Replace): void {
  replace(dns, 'lookup', (original) => {
    return function lookup(this: unknown, ...given) {
      const failing = failures.decide('lookup', String(given[0]));
      if (!failing) return original.apply(this, given);
      const done = given.at(-1) as Found;
      const { all = false } = Object(given[1]) as { all?: boolean };
      setTimeout(() => {
        if (failing.error) return done(failing.error);
        const { address } = failing;
        if (address === undefined) return original.apply(this, given);
        return all ? done(null, [{ address, family: 4 }]) : done(null, address, 4);
      }, failing.delayMs);
      return undefined;
    };
  });
  replace(dns.promises, 'lookup', (original) => {
    return async function lookup(this: unknown, ...given) {
      const failing = failures.decide('lookup', String(given[0]));
      await late(failing);
      if (failing?.address === undefined) return original.apply(this, given);
      const found = { address: failing.address, family: 4 };
      return (Object(given[1]) as { all?: boolean }).all ? [found] : found;
    };
  });
}

/** Wraps the resolvers of service discovery. */
function wrapResolvers(failures: Failures, replace: Replace): void {
  for (const name of ['resolveSrv', 'resolve4', 'resolve6']) {
    replace(dns.promises.Resolver.prototype, name, (original) => {
      return async function resolve(this: unknown, ...given) {
        await late(failures.decide('resolve', String(given[0])));
        return original.apply(this, given);
      };
    });
  }
}

async function late(failing: Failing | null): Promise<void> {
  if (!failing) return;
  // The timer does not keep the process alive, because the caller does.
  await new Promise((resolve) => setTimeout(resolve, failing.delayMs).unref());
  if (failing.error) throw failing.error;
}
