import { type Stats, statSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { addressMatcher, socketPath } from './address-range.ts';

/** Listening address, as a server reports it: `0.0.0.0` or `::` for all addresses of the machine, or `unix:/path` with port 0. */
export interface ListenAddress {
  readonly address: string;
  readonly port: number;
}

/**
 * Addresses of the gateway itself, such as its admin port, to which neither a configuration nor a client can direct
 * requests: the port may accept requests from the gateway that it rejects from others.
 */
export class DeniedAddresses {
  #all: readonly ListenAddress[] = [];

  get all(): readonly ListenAddress[] {
    return this.#all;
  }

  /** Denies an address. @returns a function that allows it again. */
  deny(address: ListenAddress): () => void {
    this.#all = [...this.#all, address];
    return () => {
      this.#all = this.#all.filter((denied) => denied !== address);
    };
  }

  /** Replaces the list with that of another process. */
  replace(all: readonly ListenAddress[]): void {
    this.#all = all;
  }

  /** True when an address with that port is denied; otherwise addresses need not be checked. */
  hasPort(port: number): boolean {
    return this.#all.some((denied) => denied.port === port);
  }

  /** True when a path leads to a denied Unix socket, also through links. */
  hasSocket(path: string): boolean {
    return this.#all.some(({ address }) => {
      const denied = socketPath(address);
      return denied !== null && isSameFile(path, denied);
    });
  }

  /** True when a connection to an IP address would reach a denied one. */
  has(address: string, port: number): boolean {
    return this.#all.some((denied) => denied.port === port && port !== 0 && leadsTo(address, denied.address));
  }
}

function isSameFile(path: string, other: string): boolean {
  const [first, second] = [path, other].map(statsOf);
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev;
}

/** Undefined if the file is not accessible, in which case a connection to it would fail as well. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function leadsTo(address: string, denied: string): boolean {
  const plain = withoutZone(address);
  // Connecting to the unspecified address (0.0.0.0 or ::) reaches the machine itself.
  return isAny(plain) || (isAny(denied) ? isOwn(plain) : addressMatcher([withoutZone(denied)])(plain));
}

function isOwn(address: string): boolean {
  const known = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return isLoopback(address) || addressMatcher(known.map((own) => withoutZone(own.address)))(address);
}

const isAny = addressMatcher(['0.0.0.0', '::']);
const isLoopback = addressMatcher(['127.0.0.0/8', '::1']);

function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}
