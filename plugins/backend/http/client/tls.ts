import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  createSecureContext,
  getCACertificates,
  getCiphers,
  type SecureContext,
  type SecureContextOptions,
  type SecureVersion,
} from 'node:tls';
import type { ConfigError, Site } from '#contract';
import { cipherList } from './ciphers.ts';
import type { ClientTls } from './tls-schema.ts';

/** What a TLS connection to a backend is made with. */
export interface TlsClient {
  readonly secureContext: SecureContext;
  readonly rejectUnauthorized: boolean;
}

/** A `client_tls` object made ready: its files are read and found good. */
export interface PreparedTls {
  readonly client: TlsClient;
  /** Differs whenever a setting or the content of a file differs. */
  readonly fingerprint: string;
}

const versions: Readonly<Record<string, SecureVersion>> = {
  TLS10: 'TLSv1',
  TLS11: 'TLSv1.1',
  TLS12: 'TLSv1.2',
  TLS13: 'TLSv1.3',
};
const versionOrder = ['SSL3.0', 'TLS10', 'TLS11', 'TLS12', 'TLS13'];
const curves: Readonly<Record<number, string>> = { 23: 'P-256', 24: 'P-384', 25: 'P-521' };

let systemAuthorities: readonly string[] | null = null;
let standard: TlsClient | null = null;

/** The authorities of the runtime and of the operating system, read once. */
function authorities(): readonly string[] {
  systemAuthorities ??= [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];
  return systemAuthorities;
}

/** TLS without any setting: the runtime's versions and ciphers, the system's authorities. Made at first use. */
export function standardTls(): TlsClient {
  standard ??= { secureContext: createSecureContext({ ca: [...authorities()] }), rejectUnauthorized: true };
  return standard;
}

/**
 * Reads and checks a `client_tls` object. Codes: `CLIENT_TLS_FILE`, `CLIENT_TLS_VERSION`, `CLIENT_TLS_CIPHER`,
 * `CLIENT_TLS_INVALID`.
 * @param at where the object stands, relative to the site's configuration.
 * @throws ConfigError naming the file, version or number that is wrong.
 */
export function prepareTls(site: Site<unknown>, at: string, config: ClientTls): PreparedTls {
  const files: string[] = [];
  const read = (path: string, pointer: string): string => {
    const text = readPem(path, (message, cause) => site.fault('CLIENT_TLS_FILE', at + pointer, message, { cause }));
    files.push(text);
    return text;
  };
  const extra = config.ca_certs.map((path, index) => read(path, `/ca_certs/${index}`));
  const pairs = config.client_certs.map((pair, index) => ({
    cert: read(pair.certificate, `/client_certs/${index}/certificate`),
    key: read(pair.private_key, `/client_certs/${index}/private_key`),
  }));
  pairs.forEach((pair, index) => {
    checked(site, `${at}/client_certs/${index}`, 'certificate and private key do not fit', pair);
  });
  extra.forEach((ca, index) => {
    checked(site, `${at}/ca_certs/${index}`, `no certificate in ${config.ca_certs[index]}`, { ca });
  });
  if (pairs.length > 1) {
    site.warn(
      'CLIENT_TLS_CERTS',
      `${at}/client_certs`,
      'of several certificates with the same kind of key only the first is offered',
    );
  }
  const secureContext = checked(site, at, 'settings cannot be used', {
    ...protocolOptions(site, at, config),
    ca: config.disable_system_ca_pool ? extra : [...authorities(), ...extra],
    // OpenSSL keeps the last certificate of each kind of key; the first in the list is to win.
    cert: pairs.map(({ cert }) => cert).reverse(),
    key: pairs.map(({ key }) => key).reverse(),
  });
  return {
    client: { secureContext, rejectUnauthorized: !config.allow_insecure_connections },
    fingerprint: createHash('sha256')
      .update(JSON.stringify([config, files]))
      .digest('base64'),
  };
}

function protocolOptions(site: Site<unknown>, at: string, config: ClientTls): SecureContextOptions {
  const { min_version: oldest, max_version: newest } = config;
  for (const [name, version] of [
    ['min_version', oldest],
    ['max_version', newest],
  ] as const) {
    if (!versions[version]) {
      throw site.fault('CLIENT_TLS_VERSION', `${at}/${name}`, `${version} is not supported by this runtime`);
    }
  }
  if (versionOrder.indexOf(oldest) > versionOrder.indexOf(newest)) {
    throw site.fault('CLIENT_TLS_VERSION', `${at}/min_version`, `min_version ${oldest} is above max_version ${newest}`);
  }
  const ciphers = cipherList(config.cipher_suites, new Set(getCiphers()));
  if (typeof ciphers === 'number') {
    const index = config.cipher_suites.indexOf(ciphers);
    throw site.fault(
      'CLIENT_TLS_CIPHER',
      `${at}/cipher_suites/${index}`,
      `cipher suite ${ciphers} is not known to this runtime`,
    );
  }
  // OpenSSL speaks TLS 1.0 and 1.1 only at its lowest security level.
  const old = oldest === 'TLS10' || oldest === 'TLS11';
  return {
    minVersion: versions[oldest]!,
    maxVersion: versions[newest]!,
    ciphers: old ? `${ciphers}:@SECLEVEL=0` : ciphers,
    ...(config.curve_preferences.length > 0 && {
      ecdhCurve: config.curve_preferences.map((number) => curves[number]).join(':'),
    }),
  };
}

function readPem(path: string, fault: (message: string, cause: unknown) => ConfigError): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw fault(`cannot read ${path}`, cause);
  }
}

function checked(
  site: Site<unknown>,
  pointer: string,
  message: string,
  options: SecureContextOptions & { ecdhCurve?: string },
): SecureContext {
  if (options.ca && options.ca.length > 0 && !String(options.ca).includes('-----BEGIN CERTIFICATE-----')) {
    throw site.fault('CLIENT_TLS_INVALID', pointer, message);
  }
  try {
    return createSecureContext(options);
  } catch (cause) {
    throw site.fault('CLIENT_TLS_INVALID', pointer, `${message}: ${(cause as Error).message}`, { cause });
  }
}
