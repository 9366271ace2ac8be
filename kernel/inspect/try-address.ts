import { lookup } from 'node:dns/promises';
import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { timerMs, type UpstreamTls } from '#contract';

/** Where a server is, and how it is spoken to. */
export interface Address {
  /** A name or an IP address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly transport: 'tcp' | 'udp';
  /** Null where TLS is not spoken from the first byte. */
  readonly tls: UpstreamTls | null;
}

/** Why an address could not be connected to: the predicate of a sentence whose subject it is. */
export interface Trouble {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Connects, agrees on TLS and hangs up. @returns null where that went well. */
export function connectTo({ host, port, tls }: Address, timeoutMs: number): Promise<Trouble | null> {
  return new Promise((resolve) => {
    const to = { host, port, autoSelectFamily: true };
    // A certificate is for the name in the address; an IP address is sent to nobody.
    const socket = tls ? connectTls({ ...to, ...tls, servername: isIP(host) ? '' : host }) : connect(to);
    let isConnected = false;
    const end = (trouble: Trouble | null): void => {
      clearTimeout(timer);
      resolve(trouble);
      socket.destroy();
    };
    const timer = setTimeout(() => end(tooLate(isConnected, timeoutMs)), timerMs(timeoutMs));
    socket.once('connect', () => {
      isConnected = true;
      if (!tls) end(null);
    });
    if (tls) socket.once('secureConnect', () => end(null));
    socket.on('error', (error) => end(troubleOf(error, isConnected)));
    socket.once('close', () =>
      end({ code: 'CONNECT_TLS', message: 'ends the connection in the middle of the TLS handshake' }),
    );
  });
}

/** Looks up the name of a server that nothing can be said about without sending to it. */
export async function lookUp({ host }: Address, timeoutMs: number): Promise<Trouble | null> {
  const { promise: late, resolve } = Promise.withResolvers<Trouble>();
  const timer = setTimeout(() => resolve(tooLate(false, timeoutMs)), timerMs(timeoutMs));
  const lookedUp = lookup(host).then(
    () => null,
    (error: Error) => troubleOf(error, false),
  );
  const trouble = await Promise.race([lookedUp, late]);
  clearTimeout(timer);
  return trouble;
}

function tooLate(isConnected: boolean, timeoutMs: number): Trouble {
  const code = 'CONNECT_TIMEOUT';
  const within = `within ${Math.round(timeoutMs)} ms`;
  return isConnected
    ? { code, message: `takes connections and does not answer the TLS handshake ${within}`, hint: 'does it speak TLS?' }
    : { code, message: `cannot be connected to ${within}`, hint: 'a firewall may drop what is sent to it' };
}

/** What certificates are refused for, by the runtime and by OpenSSL. */
const ofCertificate = /CERT|SELF_SIGNED|ISSUER|CHAIN|ALTNAME|^UNABLE_TO_/;

function troubleOf(error: NodeJS.ErrnoException, isConnected: boolean): Trouble {
  const { code = '' } = error;
  const reason = reasonOf(error);
  if (code === 'ENOTFOUND' || code.startsWith('EAI_')) {
    return {
      code: 'CONNECT_NAME',
      message: `cannot be looked up: ${code}`,
      hint: 'the name, or the DNS of this machine',
    };
  }
  if (code === 'ECONNREFUSED') {
    return { code: 'CONNECT_REFUSED', message: 'refuses connections', hint: 'nothing listens there' };
  }
  if (!isConnected) return { code: 'CONNECT_FAILED', message: `cannot be connected to: ${reason}` };
  if (code === '' || ofCertificate.test(code)) {
    return {
      code: 'CONNECT_CERTIFICATE',
      message: `shows a certificate that is not accepted: ${reason}`,
      hint: hintOf(code),
    };
  }
  const isPlain = /wrong version number|packet length too long/i.test(reason);
  return {
    code: 'CONNECT_TLS',
    message: `does not get through the TLS handshake: ${reason}`,
    hint: isPlain ? 'it speaks something else than TLS there' : undefined,
  };
}

/** In one line: OpenSSL says where in its own source it was, too. */
function reasonOf({ message, code = 'unknown' }: NodeJS.ErrnoException): string {
  const [, reason] = /SSL routines:[^:]*:([^:]+):/.exec(message) ?? [];
  return (reason ?? message.split('\n')[0]) || code;
}

function hintOf(code: string): string | undefined {
  if (code === 'CERT_HAS_EXPIRED') return undefined;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'call it by a name that its certificate has';
  return code === '' ? undefined : 'its authority in "ca_certs" of client_tls';
}
