import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { timerMs, type Upstream, type UpstreamTls } from '#contract';

/** Address of a server, and how to connect to it. */
export interface Address {
  /** Host name, IP address without brackets, or the path of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly transport: 'tcp' | 'udp';
  /** TLS settings; null for plain TCP. */
  readonly tls: UpstreamTls | null;
  /** For servers that speak first: decides from their first line whether TLS follows. */
  readonly tlsAfter?: Upstream['tlsAfter'];
}

/** Reason why an address is unreachable, as the predicate of a sentence about the address. */
export interface ConnectProblem {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Step that a connection attempt has reached. */
type Phase = 'connection' | 'greeting' | 'handshake';

/** Maximum length of a server's greeting, in bytes: the greeting of a large cluster lists all its members. */
const MAX_GREETING_BYTES = 64 * 1024;

/** Connects, waits for the greeting if the protocol has one, completes the TLS handshake and disconnects. @returns null on success. */
export function connectTo({ host, port, tls, tlsAfter }: Address, timeoutMs: number): Promise<ConnectProblem | null> {
  return new Promise((resolve) => {
    let phase: Phase = 'connection';
    const socket = connect(host.startsWith('/') ? { path: host } : { host, port, autoSelectFamily: true });
    const end = (problem: ConnectProblem | null): void => {
      clearTimeout(timer);
      resolve(problem);
      socket.destroy();
    };
    const timer = setTimeout(() => end(tooLate(phase, timeoutMs)), timerMs(timeoutMs));
    const watch = (one: Socket): void => {
      one.on('error', (error) => end(problemOf(error, phase)));
      one.once('close', () => end(hungUp(phase)));
    };
    const shakeHands = (how: UpstreamTls): void => {
      phase = 'handshake';
      // The certificate must be valid for the name in the address. An IP address is not sent as the server name of the
      // handshake.
      const secured = connectTls({ socket, host, ...how, servername: isIP(host) ? '' : host });
      watch(secured);
      secured.once('secureConnect', () => end(null));
    };
    watch(socket);
    socket.once('connect', () => {
      if (!tlsAfter) return tls ? shakeHands(tls) : end(null);
      phase = 'greeting';
      readLine(socket, (line) => {
        try {
          if (tlsAfter(line) && tls) shakeHands(tls);
          else end(null);
        } catch (error) {
          end({ code: 'CONNECT_GREETING', message: `sends an unexpected greeting: ${(error as Error).message}` });
        }
      });
    });
  });
}

/** Reads the first line from a server, up to the maximum length; then stops reading the socket. */
function readLine(socket: Socket, then: (line: string) => void): void {
  let text = '';
  const onData = (chunk: Buffer): void => {
    text += chunk.toString('latin1');
    const end = text.indexOf('\n');
    if (end < 0 && text.length < MAX_GREETING_BYTES) return;
    socket.off('data', onData);
    socket.pause();
    then(
      Buffer.from(text.slice(0, end < 0 ? MAX_GREETING_BYTES : end), 'latin1')
        .toString()
        .trimEnd(),
    );
  };
  socket.on('data', onData);
}

/** Resolves the host name of a server that cannot be tested without sending data. */
export async function lookUp({ host }: Address, timeoutMs: number): Promise<ConnectProblem | null> {
  const { promise: late, resolve } = Promise.withResolvers<ConnectProblem>();
  const timer = setTimeout(() => resolve(tooLate('connection', timeoutMs)), timerMs(timeoutMs));
  const lookedUp = lookup(host).then(
    () => null,
    (error: Error) => problemOf(error, 'connection'),
  );
  const problem = await Promise.race([lookedUp, late]);
  clearTimeout(timer);
  return problem;
}

function tooLate(phase: Phase, timeoutMs: number): ConnectProblem {
  const within = `within ${Math.round(timeoutMs)} ms`;
  return { code: 'CONNECT_TIMEOUT', ...late[phase](within) };
}

const late: Readonly<Record<Phase, (within: string) => Omit<ConnectProblem, 'code'>>> = {
  connection: (within) => ({
    message: `does not accept the connection ${within}`,
    hint: 'a firewall may drop the packets',
  }),
  greeting: (within) => ({
    message: `accepts connections but sends no greeting ${within}`,
    hint: 'check that this is the intended server',
  }),
  handshake: (within) => ({
    message: `accepts connections but does not complete the TLS handshake ${within}`,
    hint: 'check that the server uses TLS',
  }),
};

function hungUp(phase: Phase): ConnectProblem {
  return phase === 'greeting'
    ? { code: 'CONNECT_GREETING', message: 'closes the connection without a greeting' }
    : { code: 'CONNECT_TLS', message: 'closes the connection during the TLS handshake' };
}

/** Error codes of rejected certificates, from the runtime and from OpenSSL. */
const ofCertificate = /CERT|SELF_SIGNED|ISSUER|CHAIN|ALTNAME|^UNABLE_TO_/;

function problemOf(error: NodeJS.ErrnoException, phase: Phase): ConnectProblem {
  const { code = '' } = error;
  const reason = reasonOf(error);
  if (code === 'ENOTFOUND' || code.startsWith('EAI_')) {
    return {
      code: 'CONNECT_NAME',
      message: `cannot be resolved: ${code}`,
      hint: 'check the host name and the DNS of this machine',
    };
  }
  if (code === 'ECONNREFUSED') {
    return {
      code: 'CONNECT_REFUSED',
      message: 'refuses connections',
      hint: 'check that a server listens at this address',
    };
  }
  if (phase === 'connection') return { code: 'CONNECT_FAILED', message: `does not accept connections: ${reason}` };
  if (phase === 'greeting') return { code: 'CONNECT_GREETING', message: `closes the connection: ${reason}` };
  if (code === '' || ofCertificate.test(code)) {
    return {
      code: 'CONNECT_CERTIFICATE',
      message: `presents a certificate that is not accepted: ${reason}`,
      hint: hintOf(code),
    };
  }
  const isPlain = /wrong version number|packet length too long/i.test(reason);
  return {
    code: 'CONNECT_TLS',
    message: `fails the TLS handshake: ${reason}`,
    hint: isPlain ? 'the server does not use TLS' : undefined,
  };
}

/** Error message in one line, without the positions in OpenSSL's own source that its messages contain. */
function reasonOf({ message, code = 'unknown' }: NodeJS.ErrnoException): string {
  const [, reason] = /SSL routines:[^:]*:([^:]+):/.exec(message) ?? [];
  return (reason ?? message.split('\n')[0]) || code;
}

function hintOf(code: string): string | undefined {
  if (code === 'CERT_HAS_EXPIRED') return undefined;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'use a host name that the certificate contains';
  return code === '' ? undefined : 'add the certificate authority to "ca_certs" of client_tls';
}
