import { HOST_AND_PORT } from '#contract';

/** Where messages are sent. */
export interface Address {
  /** A name or an address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Pattern of what an address is written as. */
export const ADDRESS_PATTERN = `^${HOST_AND_PORT}$`;

/** Reads `host:port`, as the pattern has it. */
export function parseAddress(text: string): Address {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
}
