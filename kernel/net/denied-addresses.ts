import { networkInterfaces } from 'node:os';
import { addressMatcher } from './address-range.ts';

/** Where something listens, as a server tells it; every address of the machine as `0.0.0.0` or `::`. */
export interface ListenAddress {
  readonly address: string;
  readonly port: number;
}

/**
 * Addresses of the gateway itself that nothing which a configuration or a client names may be connected to, such as the
 * admin port's: the gateway would be let in where others are not.
 */
export class DeniedAddresses {
  #all: readonly ListenAddress[] = [];

  get all(): readonly ListenAddress[] {
    return this.#all;
  }

  /** @returns what allows the address again. */
  deny(address: ListenAddress): () => void {
    this.#all = [...this.#all, address];
    return () => {
      this.#all = this.#all.filter((denied) => denied !== address);
    };
  }

  /** Takes over what is denied in another process. */
  replace(all: readonly ListenAddress[]): void {
    this.#all = all;
  }

  /** True when something at that port is denied: only then addresses need be looked at. */
  hasPort(port: number): boolean {
    return this.#all.some((denied) => denied.port === port);
  }

  /** True when a connection to an IP address would lead to what is denied. */
  has(address: string, port: number): boolean {
    return this.#all.some((denied) => denied.port === port && leadsTo(address, denied.address));
  }
}

function leadsTo(address: string, denied: string): boolean {
  const plain = withoutZone(address);
  // Who connects to no address in particular comes out at the machine itself.
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
