import { HOST_AND_PORT } from '#contract';

/** Host and port of a GELF server. */
export interface Address {
  /** Host name or IP address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Regular expression for `host:port`. */
export const ADDRESS_PATTERN = `^${HOST_AND_PORT}$`;

/** Parses `host:port`. The text must match `ADDRESS_PATTERN`. */
export function parseAddress(text: string): Address {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
}
