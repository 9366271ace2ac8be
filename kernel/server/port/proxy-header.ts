import { isIPv4, SocketAddress } from 'node:net';
import { addressFamily } from '#contract';

/** Address of the client at the other end of a proxied connection. */
export interface ClientAddress {
  readonly address: string;
  readonly port: number;
  readonly family: 'IPv4' | 'IPv6';
}

/** A complete header. */
export interface ProxyHeader {
  /** Number of bytes of the header. */
  readonly length: number;
  /** Null for connections of the proxy itself, such as health checks, and for clients without an IP address. */
  readonly client: ClientAddress | null;
}

/** Maximum length of a header of version 1 with its line end, in bytes. */
const LONGEST_LINE = 107;
/** Maximum length of a header of version 2 with its extensions, in bytes. */
export const LONGEST_HEADER = 4096;

const LINE_START = Buffer.from('PROXY ');
const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** Length of the part of a version 2 header that announces the length of the rest. */
const FIXED_BYTES = 16;

/**
 * Parses a PROXY protocol header of version 1 or 2 at the start of a connection. Extensions (TLV) of version 2 are skipped.
 * @returns null when more bytes are needed, and a reason for bytes that are not a valid header.
 */
export function parseProxyHeader(bytes: Buffer): ProxyHeader | string | null {
  if (startsAs(bytes, LINE_START)) return parseLine(bytes);
  if (startsAs(bytes, SIGNATURE)) return bytes.length < FIXED_BYTES ? null : parseBinary(bytes);
  return 'it does not begin with a PROXY protocol header';
}

/** Whether the bytes received so far are equal to the beginning of a prefix. */
function startsAs(bytes: Buffer, prefix: Buffer): boolean {
  const length = Math.min(bytes.length, prefix.length);
  return bytes.subarray(0, length).equals(prefix.subarray(0, length));
}

const LINE = /^PROXY (TCP[46]) ([\da-fA-F.:]+) ([\da-fA-F.:]+) (\d{1,5}) (\d{1,5})$/;

function parseLine(bytes: Buffer): ProxyHeader | string | null {
  const end = bytes.subarray(0, LONGEST_LINE).indexOf('\r\n');
  if (end < 0) return bytes.length < LONGEST_LINE ? null : 'the version 1 header is too long';
  const line = bytes.toString('latin1', 0, end);
  const length = end + 2;
  if (/^PROXY UNKNOWN(?: |$)/.test(line)) return { length, client: null };
  const [, family, source = '', target = '', sourcePort, targetPort] = LINE.exec(line) ?? [];
  const expected = family === 'TCP4' ? 4 : 6;
  const isValid = addressFamily(source) === expected && addressFamily(target) === expected;
  if (!isValid || Number(sourcePort) > 65_535 || Number(targetPort) > 65_535)
    return 'the version 1 header is malformed';
  return { length, client: clientAt(source, Number(sourcePort)) };
}

const LOCAL = 0x20;
const PROXY = 0x21;

/** The addresses of a version 2 header. */
interface AddressBlock {
  readonly bytes: number;
  read(block: Buffer): ClientAddress | null;
}

/** Address blocks by family and transport. Datagrams cannot arrive on a TCP connection. */
const blocks: Readonly<Record<number, AddressBlock>> = {
  0: { bytes: 0, read: () => null },
  17: { bytes: 12, read: (block) => clientAt(block.subarray(0, 4).join('.'), block.readUInt16BE(8)) },
  33: { bytes: 36, read: (block) => clientAt(groupsOf(block), block.readUInt16BE(32)) },
  49: { bytes: 216, read: () => null },
};

function parseBinary(bytes: Buffer): ProxyHeader | string | null {
  const length = FIXED_BYTES + bytes.readUInt16BE(14);
  const command = bytes[12]!;
  const block = blocks[bytes[13]!];
  if (command !== LOCAL && command !== PROXY) return 'the version 2 header has an unknown version or command';
  if (length > LONGEST_HEADER) return `the version 2 header is longer than ${LONGEST_HEADER} bytes`;
  if (command === PROXY && !block) return 'the version 2 header has an unsupported address family or transport';
  if (command === PROXY && length < FIXED_BYTES + block!.bytes)
    return 'the version 2 header is too short for its addresses';
  if (bytes.length < length) return null;
  return { length, client: command === LOCAL ? null : block!.read(bytes.subarray(FIXED_BYTES, length)) };
}

function groupsOf(block: Buffer): string {
  return Array.from({ length: 8 }, (_, index) => block.readUInt16BE(index * 2).toString(16)).join(':');
}

/** @returns the address in the spelling that a socket would have. */
function clientAt(address: string, port: number): ClientAddress {
  if (isIPv4(address)) return { address, port, family: 'IPv4' };
  return { address: new SocketAddress({ address, family: 'ipv6' }).address, port, family: 'IPv6' };
}
