import { getCACertificates, type SecureVersion } from 'node:tls';
import { type CipherList, cipherList } from '../net/ciphers.ts';
import { unreadableFile } from '../values/file-trouble.ts';
import type { ConfigError } from './errors.ts';
import type { ClientTls } from './tls.ts';

/** The fields that `tls` and `client_tls` share. */
export type TlsProtocol = Pick<ClientTls, 'min_version' | 'max_version' | 'cipher_suites' | 'curve_preferences'>;

/** The same fields as options of Node's TLS. */
export interface TlsProtocolOptions {
  readonly minVersion: SecureVersion;
  readonly maxVersion: SecureVersion;
  readonly ciphers: string;
  readonly ecdhCurve?: string;
}

/** Makes the error for a mistake. @param kind end of its code. @param at relative to the object. */
export type TlsFault = (
  kind: 'FILE' | 'INVALID' | 'VERSION' | 'CIPHER',
  at: string,
  message: string,
  cause?: unknown,
) => ConfigError;

const versions: Readonly<Record<string, SecureVersion>> = {
  TLS10: 'TLSv1',
  TLS11: 'TLSv1.1',
  TLS12: 'TLSv1.2',
  TLS13: 'TLSv1.3',
};
const versionOrder = ['SSL3.0', 'TLS10', 'TLS11', 'TLS12', 'TLS13'];
const curves: Readonly<Record<number, string>> = { 23: 'P-256', 24: 'P-384', 25: 'P-521' };

let system: readonly string[] | null = null;

/** The authorities of the runtime and of the operating system in PEM, read once. */
export function systemAuthorities(): readonly string[] {
  system ??= [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];
  return system;
}

/** The text of a file that a configuration names. @param read as of `Site`. @throws what `fault` makes, with path and reason. */
export function readPem(read: (path: string) => Uint8Array, path: string, at: string, fault: TlsFault): string {
  try {
    return Buffer.from(read(path)).toString();
  } catch (cause) {
    throw fault('FILE', at, unreadableFile(path, cause), cause);
  }
}

/**
 * Versions, suites and curves of a `tls` or `client_tls` object.
 * @throws what `fault` makes for a version or suite the runtime cannot do, for versions the wrong way round, and where
 * no suite is left for the versions allowed.
 */
export function tlsProtocol(config: TlsProtocol, fault: TlsFault): TlsProtocolOptions {
  const { min_version: oldest, max_version: newest } = config;
  for (const [name, version] of [
    ['min_version', oldest],
    ['max_version', newest],
  ] as const) {
    if (!versions[version]) throw fault('VERSION', `/${name}`, `${version} is not supported by this runtime`);
  }
  if (versionOrder.indexOf(oldest) > versionOrder.indexOf(newest)) {
    throw fault('VERSION', '/min_version', `min_version ${oldest} is above max_version ${newest}`);
  }
  const ciphers = cipherList(config.cipher_suites);
  if (typeof ciphers === 'number') {
    const index = config.cipher_suites.indexOf(ciphers);
    throw fault('CIPHER', `/cipher_suites/${index}`, `cipher suite ${ciphers} is not supported by this runtime`);
  }
  if (!hasSuiteFor(newest, ciphers)) throw fault('CIPHER', '/cipher_suites', `no cipher suite for ${newest} or older`);
  return {
    minVersion: versions[oldest]!,
    maxVersion: versions[newest]!,
    // OpenSSL speaks TLS 1.0 and 1.1 only at its lowest security level.
    ciphers: speaksOld(config) ? `${ciphers.list}:@SECLEVEL=0` : ciphers.list,
    ...(config.curve_preferences.length > 0 && {
      ecdhCurve: config.curve_preferences.map((number) => curves[number]).join(':'),
    }),
  };
}

function hasSuiteFor(newest: string, ciphers: CipherList): boolean {
  if (newest === 'TLS13') return true;
  return newest === 'TLS12' ? ciphers.forTls12 || ciphers.forOlder : ciphers.forOlder;
}

/** True where TLS 1.0 or 1.1 is allowed. */
export function speaksOld(config: TlsProtocol): boolean {
  return config.min_version === 'TLS10' || config.min_version === 'TLS11';
}
