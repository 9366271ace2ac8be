import { createSocket, type RemoteInfo } from 'node:dgram';
import dns, { type SrvRecord } from 'node:dns';

/** Response for a name: records, a failure, or no response. */
export type Zone = Map<string, readonly SrvRecord[] | 'fails' | 'silent'>;

/** A name server for tests on a free UDP port, for SRV records only. */
export interface TestNameServer {
  /** Names in lower case; others do not exist. Tests may change it at any time. */
  readonly zone: Zone;
  /** Requested names so far, oldest first. */
  readonly requested: readonly string[];
  /** Restores the name servers of the process. */
  close(): Promise<void>;
}

const SERVER_FAILURE = 2;
const NO_SUCH_NAME = 3;

/** Starts a name server and makes the process use it. */
export async function startNameServer(): Promise<TestNameServer> {
  const socket = createSocket('udp4');
  const zone: Zone = new Map();
  const requested: string[] = [];
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    const { name, end } = questionOf(query);
    const send = (response: Buffer) => socket.send(response, from.port, from.address);
    const results = zone.get(name.toLowerCase());
    requested.push(name.toLowerCase());
    if (results === 'silent') return;
    if (results === 'fails') send(reply(query, end, SERVER_FAILURE, []));
    else send(reply(query, end, results ? 0 : NO_SUCH_NAME, results ?? []));
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  const before = dns.getServers();
  dns.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    zone,
    requested,
    close: () =>
      new Promise((resolve) => {
        dns.setServers(before);
        socket.close(() => resolve());
      }),
  };
}

/** The name in a query, and the end of its question. */
function questionOf(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.'), end: at + 5 };
}

/** A response with these records, made from the header and question of the query. */
function reply(query: Buffer, end: number, code: number, records: readonly SrvRecord[]): Buffer {
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...records.map(encode)]);
}

function encode({ priority, weight, port, name }: SrvRecord): Buffer {
  const labels = name === '' ? [] : name.split('.');
  const target = Buffer.concat([
    ...labels.map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.of(0),
  ]);
  const record = Buffer.alloc(18);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(33, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt16BE(6 + target.length, 10);
  record.writeUInt16BE(priority, 12);
  record.writeUInt16BE(weight, 14);
  record.writeUInt16BE(port, 16);
  return Buffer.concat([record, target]);
}
