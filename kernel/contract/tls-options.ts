import { getCACertificates, type SecureVersion } from 'node:tls';
import { type CipherList, cipherList } from '../net/ciphers.ts';
import { unreadableFile } from '../values/file-error-reason.ts';
import type { ConfigError } from './errors.ts';
import type { ClientTls } from './tls.ts';

/** Fields shared by `tls` and `client_tls`. */
export type TlsProtocol = Pick<ClientTls, 'min_version' | 'max_version' | 'cipher_suites' | 'curve_preferences'>;

/** These fields as options of Node.js TLS. */
export interface TlsProtocolOptions {
  readonly minVersion: SecureVersion;
  readonly maxVersion: SecureVersion;
  readonly ciphers: string;
  readonly ecdhCurve?: string;
}

/** Creates the error for an invalid setting. @param kind suffix of its code. @param at pointer relative to the object. */
export type TlsFault = (
  kind: 'FILE' | 'INVALID' | 'VERSION' | 'CIPHER',
  at: string,
  message: string,
  cause?: unknown,
) => ConfigError;

/** SSL 3.0 is replaced with the default version, because the runtime does not support it: the setting has no effect. */
const versions: Readonly<Record<ClientTls['min_version'], SecureVersion>> = {
  'SSL3.0': 'TLSv1.3',
  TLS10: 'TLSv1',
  TLS11: 'TLSv1.1',
  TLS12: 'TLSv1.2',
  TLS13: 'TLSv1.3',
};
const curves: Readonly<Record<number, string>> = { 23: 'P-256', 24: 'P-384', 25: 'P-521' };

let system: readonly string[] | null = null;

/** CA certificates of the runtime and the operating system in PEM format, read once. */
export function systemAuthorities(): readonly string[] {
  system ??= [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];
  return system;
}

/** Content of a file that a configuration names. @param read see `Site`. @throws the error created by `fault`, with path and reason. */
export function readPem(read: (path: string) => Uint8Array, path: string, at: string, fault: TlsFault): string {
  try {
    return Buffer.from(read(path)).toString();
  } catch (cause) {
    throw fault('FILE', at, unreadableFile(path, cause), cause);
  }
}

/**
 * Versions, cipher suites and curves of a `tls` or `client_tls` object.
 * @throws the error created by `fault` for suites that the runtime does not support, for reversed versions, and if no
 * suite remains for the allowed versions.
 */
export function tlsProtocol(config: TlsProtocol, fault: TlsFault): TlsProtocolOptions {
  const { min_version: oldest, max_version: newest } = config;
  const [minVersion, maxVersion] = [versions[oldest], versions[newest]];
  // Versions are compared as text: their names sort in the order of the versions.
  if (minVersion > maxVersion) {
    throw fault('VERSION', '/min_version', `min_version ${oldest} is above max_version ${newest}`);
  }
  const ciphers = cipherList(config.cipher_suites);
  if (typeof ciphers === 'number') {
    const index = config.cipher_suites.indexOf(ciphers);
    throw fault('CIPHER', `/cipher_suites/${index}`, `cipher suite ${ciphers} is not supported by this runtime`);
  }
  if (!hasSuiteFor(maxVersion, ciphers))
    throw fault('CIPHER', '/cipher_suites', `no cipher suite for ${newest} or older`);
  return {
    minVersion,
    maxVersion,
    // OpenSSL supports TLS 1.0 and 1.1 at its lowest security level only.
    ciphers: speaksOld(config) ? `${ciphers.list}:@SECLEVEL=0` : ciphers.list,
    ...(config.curve_preferences.length > 0 && {
      ecdhCurve: config.curve_preferences.map((number) => curves[number]).join(':'),
    }),
  };
}

function hasSuiteFor(newest: SecureVersion, ciphers: CipherList): boolean {
  if (newest === 'TLSv1.3') return true;
  return newest === 'TLSv1.2' ? ciphers.forTls12 || ciphers.forOlder : ciphers.forOlder;
}

/** True if the settings allow TLS 1.0 or 1.1. */
export function speaksOld(config: TlsProtocol): boolean {
  return config.min_version === 'TLS10' || config.min_version === 'TLS11';
}
