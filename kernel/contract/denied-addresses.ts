import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

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
  // Who connects to no address in particular comes out at the machine itself.
  return isIn(any, address) || (isIn(any, denied) ? isOwn(address) : isIn(listOf([denied]), address));
}

function isOwn(address: string): boolean {
  const known = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return isIn(loopback, address) || isIn(listOf(known.map((own) => own.address)), address);
}

const any = listOf(['0.0.0.0', '::']);
const loopback = listOf(['::1']);
loopback.addSubnet('127.0.0.0', 8, 'ipv4');

function listOf(addresses: readonly string[]): BlockList {
  const list = new BlockList();
  for (const address of addresses.map(withoutZone)) list.addAddress(address, familyOf(address));
  return list;
}

/** Knows IPv4 addresses written as IPv6, too. */
function isIn(list: BlockList, address: string): boolean {
  const plain = withoutZone(address);
  return isIP(plain) !== 0 && list.check(plain, familyOf(plain));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}
