import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import {
  checkServerIdentity,
  createSecureContext,
  type DetailedPeerCertificate,
  type PeerCertificate,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls';
import {
  type ClientTls,
  ConfigError,
  pemErrorReason,
  readPem,
  type Site,
  systemAuthorities,
  type TlsFault,
  tlsProtocol,
} from '#contract';

/** Settings of a TLS connection to a backend. */
export interface TlsClient {
  readonly secureContext: SecureContext;
  readonly rejectUnauthorized: boolean;
  readonly checkServerIdentity?: typeof checkServerIdentity;
}

/** A prepared `client_tls` object: its files have been read and validated. */
export interface PreparedTls {
  readonly client: TlsClient;
  /** Files that the settings were loaded from. */
  readonly paths: readonly string[];
  /** Fingerprint that differs whenever a setting or the content of a file differs. */
  readonly fingerprint: string;
}

/** Maximum number of certificates of a chain that are checked. */
const MAX_CHAIN = 10;

let standard: TlsClient | null = null;
let runtime: TlsClient | null = null;

/** The prepared `client_tls` of services, or its error: many backends share one. */
const shared = new WeakMap<ClientTls, PreparedTls | ConfigError>();

/** Contexts in use, by fingerprint: each contains the whole trust store, which takes 8 ms and 1 MB. */
const contexts = new Map<string, WeakRef<SecureContext>>();
const unused = new FinalizationRegistry<string>((fingerprint) => {
  if (!contexts.get(fingerprint)?.deref()) contexts.delete(fingerprint);
});

/** TLS without any setting: the runtime's versions and ciphers, the system trust store. Created at first use. */
export function standardTls(): TlsClient {
  standard ??= { secureContext: createSecureContext({ ca: [...systemAuthorities()] }), rejectUnauthorized: true };
  return standard;
}

/** TLS as client libraries use it without settings: with the runtime's built-in trust store. Created at first use. */
export function runtimeTls(): TlsClient {
  runtime ??= { secureContext: createSecureContext(), rejectUnauthorized: true };
  return runtime;
}

/**
 * Reads and checks a backend's own `client_tls` object. Codes: `CLIENT_TLS_FILE`, `CLIENT_TLS_VERSION`,
 * `CLIENT_TLS_CIPHER`, `CLIENT_TLS_INVALID`; a warning `CLIENT_TLS_CERTS`.
 * @param pointer of the object in the site's configuration.
 * @param pins as for `HttpOptions`.
 * @throws ConfigError naming the file, version or number that is wrong.
 */
export function prepareTls(
  site: Site<unknown>,
  config: ClientTls,
  pointer = '/client_tls',
  pins: readonly string[] = [],
): PreparedTls {
  const prepared = prepare(site.read, config, (kind, at, message, cause) =>
    site.fault(`CLIENT_TLS_${kind}`, pointer + at, message, { cause }),
  );
  if (config.client_certs.length > 1) {
    site.warn(
      'CLIENT_TLS_CERTS',
      `${pointer}/client_certs`,
      'if several certificates have the same kind of key, only the first is offered',
    );
  }
  return pins.length === 0 ? prepared : pinned(prepared, pins);
}

/** Returns the same settings, restricted to servers that present one of the pinned public keys. */
function pinned({ client, paths, fingerprint }: PreparedTls, pins: readonly string[]): PreparedTls {
  return {
    paths,
    client: {
      ...client,
      checkServerIdentity: (host, certificate) =>
        checkServerIdentity(host, certificate) ?? pinProblem(certificate, pins),
    },
    fingerprint: JSON.stringify([fingerprint, pins]),
  };
}

/** Returns the error for a chain in which no certificate has a pinned public key. */
function pinProblem(certificate: PeerCertificate, pins: readonly string[]): Error | undefined {
  let at = certificate as DetailedPeerCertificate | undefined;
  for (let length = 0; at && length < MAX_CHAIN; length++) {
    const key = new X509Certificate(at.raw).publicKey.export({ type: 'spki', format: 'der' });
    if (pins.includes(createHash('sha256').update(key).digest('base64'))) return undefined;
    at = at.issuerCertificate === at ? undefined : at.issuerCertificate;
  }
  return new Error("none of the server's certificates has a pinned public key");
}

/** Prepares the `client_tls` object of the service: only once, with the same error for all callers. */
export function prepareSharedTls(site: Site<unknown>, config: ClientTls): PreparedTls {
  let prepared = shared.get(config);
  if (!prepared) {
    try {
      prepared = prepare(
        site.read,
        config,
        (kind, at, message, cause) => new ConfigError(`CLIENT_TLS_${kind}`, `/client_tls${at}`, message, { cause }),
      );
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      prepared = error;
    }
    shared.set(config, prepared);
  }
  if (prepared instanceof ConfigError) throw prepared;
  // The files were already read; reading them again only records that this caller depends on them as well.
  for (const path of prepared.paths) site.read(path);
  return prepared;
}

function prepare(readFile: Site<unknown>['read'], config: ClientTls, fault: TlsFault): PreparedTls {
  const files: string[] = [];
  const paths: string[] = [];
  const read = (path: string, at: string): string => {
    const text = readPem(readFile, path, at, fault);
    files.push(text);
    paths.push(path);
    return text;
  };
  const extra = config.ca_certs.map((path, index) => read(path, `/ca_certs/${index}`));
  const pairs = config.client_certs.map((pair, index) => ({
    cert: read(pair.certificate, `/client_certs/${index}/certificate`),
    key: read(pair.private_key, `/client_certs/${index}/private_key`),
  }));
  pairs.forEach(({ cert, key }, index) => {
    const at = `/client_certs/${index}`;
    const { certificate, private_key: privateKey } = config.client_certs[index]!;
    const keyAt = `${at}/private_key`;
    checked(
      fault,
      `${at}/certificate`,
      `${certificate} contains no certificate`,
      cert,
      () => new X509Certificate(cert),
    );
    checked(fault, keyAt, `${privateKey} contains no usable private key`, key, () => createPrivateKey(key));
    checked(fault, keyAt, `${privateKey} is not the key of ${certificate}`, key, () =>
      createSecureContext({ cert, key }),
    );
  });
  extra.forEach((ca, index) => {
    const at = `/ca_certs/${index}`;
    checked(fault, at, `${config.ca_certs[index]} contains no certificate`, ca, () => new X509Certificate(ca));
  });
  const options: SecureContextOptions & { ecdhCurve?: string } = {
    ...tlsProtocol(config, fault),
    ca: config.disable_system_ca_pool ? extra : [...systemAuthorities(), ...extra],
    allowPartialTrustChain: true,
    // OpenSSL keeps the last certificate of each key type, so the list is passed in reverse: the first certificate
    // takes precedence.
    cert: pairs.map(({ cert }) => cert).reverse(),
    key: pairs.map(({ key }) => key).reverse(),
  };
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([config, files]))
    .digest('base64');
  const secureContext = checked(fault, '', 'settings cannot be used', '', () => contextFor(fingerprint, options));
  return {
    paths,
    client: { secureContext, rejectUnauthorized: !config.allow_insecure_connections },
    fingerprint,
  };
}

/** The context of equal settings, which thousands of backends may have. @param fingerprint of the options. */
function contextFor(fingerprint: string, options: SecureContextOptions): SecureContext {
  const known = contexts.get(fingerprint)?.deref();
  if (known) return known;
  const context = createSecureContext(options);
  contexts.set(fingerprint, new WeakRef(context));
  unused.register(context, fingerprint);
  return context;
}

/** @param pem the content to check. */
function checked<T>(fault: TlsFault, at: string, message: string, pem: string, use: () => T): T {
  try {
    return use();
  } catch (cause) {
    throw fault('INVALID', at, `${message}: ${pemErrorReason(pem, cause)}`, cause);
  }
}
