/** A value in a database of addresses. Whole numbers are written as uint32, others as doubles. */
type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value };

type Node = [left: Node | number | null, right: Node | number | null];

/**
 * Creates an IP address database in the format MMDB 2.0, for IPv6 including IPv4 addresses.
 * @param places networks in CIDR notation, IPv4 or eight groups of IPv6, each with its record.
 */
export function makeDatabase(
  places: readonly (readonly [network: string, record: Value])[],
  { type = 'GeoIP2-City', recordSize = 24 }: { type?: string; recordSize?: 24 | 28 | 32 } = {},
): Buffer {
  const data: Buffer[] = [];
  let length = 0;
  const root: Node = [null, null];
  for (const [network, record] of places) {
    insert(root, bitsOf(network), length);
    const bytes = encode(record);
    data.push(bytes);
    length += bytes.length;
  }
  const nodes = [root];
  for (const node of nodes) for (const side of node) if (Array.isArray(side)) nodes.push(side);
  const numbers = new Map(nodes.map((node, index) => [node, index]));
  const recordOf = (side: Node | number | null) => {
    if (side === null) return nodes.length;
    return typeof side === 'number' ? nodes.length + 16 + side : numbers.get(side)!;
  };
  const tree = nodes.map(([left, right]) => writeNode(recordOf(left), recordOf(right), recordSize));
  const metadata = encode({
    node_count: nodes.length,
    record_size: recordSize,
    ip_version: 6,
    database_type: type,
    languages: ['en'],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1,
    description: { en: 'of the test' },
  });
  const marker = Buffer.concat([Buffer.from([0xab, 0xcd, 0xef]), Buffer.from('MaxMind.com')]);
  return Buffer.concat([...tree, Buffer.alloc(16), ...data, marker, metadata]);
}

function bitsOf(network: string): number[] {
  const [address, size] = network.split('/') as [string, string];
  const isFour = address.includes('.');
  const parts = isFour ? address.split('.').map(Number) : address.split(':').map((group) => Number.parseInt(group, 16));
  const width = isFour ? 8 : 16;
  const bits = parts.flatMap((part) => Array.from({ length: width }, (_, at) => (part >> (width - 1 - at)) & 1));
  return [...new Array<number>(isFour ? 96 : 0).fill(0), ...bits.slice(0, Number(size))];
}

function insert(root: Node, bits: readonly number[], offset: number): void {
  let node = root;
  for (const bit of bits.slice(0, -1)) {
    node[bit] ??= [null, null];
    node = node[bit] as Node;
  }
  node[bits.at(-1)!] = offset;
}

function writeNode(left: number, right: number, recordSize: 24 | 28 | 32): Buffer {
  const bytes = Buffer.alloc(recordSize / 4);
  if (recordSize === 32) {
    bytes.writeUInt32BE(left, 0);
    bytes.writeUInt32BE(right, 4);
  } else {
    const middle = recordSize / 4 - 3;
    bytes.writeUIntBE(left & 0xffffff, 0, 3);
    bytes.writeUIntBE(right & 0xffffff, middle, 3);
    if (recordSize === 28) bytes[3] = ((left >> 24) << 4) | (right >> 24);
  }
  return bytes;
}

function encode(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === 'boolean') return control(14, value ? 1 : 0);
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)]);
  if (typeof value === 'object') {
    const entries = Object.entries(value);
    return Buffer.concat([control(7, entries.length), ...entries.flat().map((each) => encode(each as Value))]);
  }
  const bytes = Buffer.alloc(Number.isInteger(value) ? 4 : 8);
  if (Number.isInteger(value)) bytes.writeUInt32BE(value as number);
  else bytes.writeDoubleBE(value as number);
  return Buffer.concat([control(bytes.length === 4 ? 6 : 3, bytes.length), bytes]);
}

function control(type: number, size: number): Buffer {
  const [low, more] = size < 29 ? [size, []] : [29, [size - 29]];
  return Buffer.from(type < 8 ? [(type << 5) | low, ...more] : [low, type - 7, ...more]);
}
