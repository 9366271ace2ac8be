import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo, Socket } from 'node:net';

/** An MD4 implementation independent of the gateway's. */
const { createNTLMHash } = createRequire(import.meta.url)('@ewsjs/ntlm-client/lib/hash.js') as {
  createNTLMHash(password: string): Buffer;
};

/** A request as received by the server. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly length: string | undefined;
  /** Type of the client's NTLM message: 1 or 3; 0 without one. */
  readonly message: number;
  readonly socket: Socket;
}

const TARGET = 'CORP';
const targetInfo = Buffer.concat([
  Buffer.from([2, 0, 8, 0]),
  Buffer.from(TARGET, 'utf16le'),
  Buffer.from([0, 0, 0, 0]),
]);

/** A server that authenticates connections with NTLM, like Microsoft's servers. */
export async function startNtlmServer(accounts: Record<string, string>) {
  const seen: Seen[] = [];
  const challenges = new Map<Socket, Buffer>();
  const known = new Set<Socket>();
  const state = {
    scheme: 'NTLM',
    challenge: challengeMessage as (nonce: Buffer) => Buffer,
    respond: (_seen: Seen, response: ServerResponse) => {
      response.setHeader('content-type', 'application/json').end('{"ok":true}');
    },
    beforeChallenge: null as ((socket: Socket) => boolean) | null,
  };
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { socket } = request;
    const [, encoded = ''] = (request.headers.authorization ?? '').split(' ');
    const message = Buffer.from(encoded, 'base64');
    const one: Seen = {
      method: request.method!,
      url: request.url!,
      body: Buffer.concat(chunks).toString(),
      length: request.headers['content-length'],
      message: message.length > 12 ? message.readUInt32LE(8) : 0,
      socket,
    };
    seen.push(one);
    if (one.message === 1) {
      if (state.beforeChallenge?.(socket)) return;
      const nonce = randomBytes(8);
      challenges.set(socket, nonce);
      const text = state.challenge(nonce).toString('base64');
      return void response.writeHead(401, { 'WWW-Authenticate': `${state.scheme} ${text}` }).end('challenge');
    }
    const nonce = challenges.get(socket);
    if (one.message === 3 && nonce && isRight(message, nonce, accounts)) known.add(socket);
    challenges.delete(socket);
    if (!known.has(socket)) return void response.writeHead(401, { 'WWW-Authenticate': state.scheme }).end('who?');
    state.respond(one, response);
  };
  const server = createServer((request, response) => void handle(request, response).catch(() => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    state,
    /** Drops the authentication of all connections. */
    forget: () => known.clear(),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

export function challengeMessage(nonce: Buffer): Buffer {
  const message = Buffer.alloc(48);
  message.write('NTLMSSP\0', 'latin1');
  message.writeUInt32LE(2, 8);
  const name = Buffer.from(TARGET, 'utf16le');
  message.writeUInt16LE(name.length, 12);
  message.writeUInt32LE(48, 16);
  message.writeUInt32LE(0x808201, 20);
  nonce.copy(message, 24);
  message.writeUInt16LE(targetInfo.length, 40);
  message.writeUInt32LE(48 + name.length, 44);
  return Buffer.concat([message, name, targetInfo]);
}

function isRight(message: Buffer, nonce: Buffer, accounts: Record<string, string>): boolean {
  const field = (at: number) => {
    const start = message.readUInt32LE(at + 4);
    return message.subarray(start, start + message.readUInt16LE(at));
  };
  const response = field(20);
  const domain = field(28).toString('utf16le');
  const name = field(36).toString('utf16le');
  const password = accounts[`${domain}\\${name}`];
  if (password === undefined) return false;
  const hmac = (key: Buffer, data: Buffer) => createHmac('md5', key).update(data).digest();
  const key = hmac(createNTLMHash(password), Buffer.from(name.toUpperCase() + domain, 'utf16le'));
  const blob = response.subarray(16);
  const hasInfo = blob.includes(targetInfo);
  const isOld = field(12).some((byte) => byte !== 0);
  return hasInfo && !isOld && hmac(key, Buffer.concat([nonce, blob])).equals(response.subarray(0, 16));
}
