import { type EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { type InternalErrorCounts, InternalErrors } from '../../kernel/containment/internal-errors.ts';
import { silentEvents } from '../../kernel/contract/internal.ts';
import { readServerTls } from '../../kernel/runtime/tls.ts';
import { Connection } from '../../kernel/server/http1/connection.ts';
import { SwitchingResponse } from '../../kernel/server/http1/upgrade.ts';
import { listen } from '../../kernel/server/port/listener.ts';
import { HeaderFaults } from '../../kernel/server/port/proxy-protocol.ts';
import { makeCertificates } from './certificates.ts';
import { normalize } from './known.ts';
import { rememberingLog } from './log.ts';

/**
 * Injects one exception after another into the handlers of client connections, and prints the results as JSON: log lines, counts, and whether another connection still works after the affected one was closed.
 */
export interface Outcome {
  readonly fault: string;
  readonly logged: readonly string[];
  readonly counts: InternalErrorCounts;
  /** The response on a connection that was open before. */
  readonly other: string;
}

/** Makes the next call of the given method throw; later calls are unchanged. */
function plant(holder: object, method: string, isMeant: (...args: never[]) => boolean = () => true): void {
  const own = Object.getOwnPropertyDescriptor(holder, method);
  const before = (holder as Record<string, (...args: unknown[]) => unknown>)[method]!;
  const value = function planted(this: unknown, ...args: never[]): unknown {
    if (!isMeant(...args)) return before.apply(this, args);
    if (own) Object.defineProperty(holder, method, own);
    else Reflect.deleteProperty(holder, method);
    throw new Error(`planted in ${method}`);
  };
  Object.defineProperty(holder, method, { value, configurable: true, writable: true });
}

const log = rememberingLog();
const errors = new InternalErrors({ log, events: silentEvents, now: () => performance.now() });
errors.watch();

const certificates = makeCertificates();
const pair = certificates.issue('server', certificates.authority('authority'));
const fields = {
  version: 3,
  listen_ip: '127.0.0.1',
  use_h2c: true,
  read_header_timeout: '200ms',
  tls: { keys: [{ public_key: pair.certificate, private_key: pair.privateKey }] },
};
const { config } = normalize(fields);
const tls = readServerTls(config.tls, { read: (path) => readFileSync(path), errors: [], warnings: [] });
const upgrades = new Set(['shout']);

const serving = {
  serve(message: IncomingMessage, response: ServerResponse): void {
    if (response instanceof SwitchingResponse) message.socket.on('data', () => {}).write('switched');
    else response.end('served');
  },
  serveHttp2: (_message: IncomingMessage, response: ServerResponse): void => void response.end('served'),
};
const port = await listen(
  { config, tls: null, upgrades, http2Type: null },
  { ip: config.listen_ip, port: 0 },
  {
    serve: (...given) => serving.serve(...given),
    serveHttp2: (...given) => serving.serveHttp2(...given),
  },
  log,
  new HeaderFaults(log),
);
const secure = await listen(
  { config, tls, upgrades, http2Type: null },
  { ip: config.listen_ip, port: 0 },
  serving,
  log,
  new HeaderFaults(log),
);

const get = 'GET / HTTP/1.1\r\nHost: a\r\n';

/** A connection that has sent these bytes. */
function send(bytes: string): Socket {
  const socket = connectTcp(port.port, '127.0.0.1').on('error', () => {});
  socket.resume().write(bytes);
  return socket;
}

/** A TLS connection; with `fails`, without a version that the server supports. */
function sendTls(fails = false): TLSSocket {
  const how = fails ? ({ maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' } as const) : {};
  const socket = connectTls({ port: secure.port, host: '127.0.0.1', rejectUnauthorized: false, ...how });
  socket.on('error', () => {}).resume();
  return socket;
}

function askHttp2(): EventEmitter {
  const session = connectHttp2(`http://127.0.0.1:${port.port}`).on('error', () => {});
  session
    .request({ ':path': '/' })
    .on('error', () => {})
    .resume();
  return session;
}

/** Injections by place. Each injects an exception and opens the affected connection. */
const faults: Readonly<Record<string, () => EventEmitter>> = {
  'a request that begins'() {
    plant(Connection.prototype, 'accept');
    return send(`${get}\r\n`);
  },
  'the code that serves requests'() {
    plant(serving, 'serve');
    return send(`${get}\r\n`);
  },
  'bytes that are not a request'() {
    plant(Connection.prototype, 'refuse');
    return send('nonsense\r\n\r\n');
  },
  'an expectation'() {
    plant(Connection.prototype, 'refuse');
    return send(`${get}Expect: more\r\n\r\n`);
  },
  'the first bytes of a connection'() {
    plant(Socket.prototype, 'unshift');
    return send(`${get}\r\n`);
  },
  'the timer of a silent connection'() {
    plant(Socket.prototype, 'destroy');
    return connectTcp(port.port, '127.0.0.1')
      .on('error', () => {})
      .resume();
  },
  'the choice of an upgrade'() {
    plant(upgrades, 'has');
    return send(`${get}Connection: Upgrade\r\nUpgrade: shout\r\n\r\n`);
  },
  'data of an upgraded connection'() {
    const socket = send(`${get}Connection: Upgrade\r\nUpgrade: shout\r\n\r\n`);
    const { serve } = serving;
    serving.serve = (message, response) => {
      serving.serve = serve;
      serve(message, response);
      message.socket.once('data', () => {
        throw new Error('planted');
      });
    };
    return socket.once('data', () => socket.write('hello'));
  },
  'an HTTP/2 request'() {
    plant(serving, 'serveHttp2');
    return askHttp2();
  },
  'a TLS handshake that succeeds'() {
    plant(
      TLSSocket.prototype,
      'on',
      (...[name, listener]: [string, () => void]) => name === 'error' && listener.name === 'ignored',
    );
    return sendTls();
  },
  'a TLS handshake that fails'() {
    plant(log, 'debug');
    return sendTls(true);
  },
  'plain HTTP on the TLS port'() {
    plant(log, 'debug');
    const socket = connectTcp(secure.port, '127.0.0.1').on('error', () => {});
    socket.resume().write(`${get}\r\n`);
    return socket;
  },
};

const bystander = connectTcp(port.port, '127.0.0.1');
await once(bystander, 'connect');
const outcomes: Outcome[] = [];
for (const [fault, begin] of Object.entries(faults)) {
  const before = errors.own;
  const socket = begin();
  await new Promise((resolve) => socket.once('close', resolve));
  while (errors.own === before) await new Promise((resolve) => setTimeout(resolve, 5));
  bystander.write(`${get}\r\n`);
  const [bytes] = (await once(bystander, 'data')) as [Buffer];
  const logged = (log.lines as string[]).splice(0).map((line) => line.split('\n', 1)[0]!);
  outcomes.push({ fault, logged, counts: errors.takeDelta(), other: bytes.toString().split('\r\n', 1)[0]! });
}
process.stdout.write(`${JSON.stringify(outcomes)}\n`);
certificates.remove();
process.exit();
