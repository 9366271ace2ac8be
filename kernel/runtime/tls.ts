import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext, type SecureContextOptions, type TlsOptions } from 'node:tls';
import {
  ConfigError,
  type KeyFiles,
  pemErrorReason,
  readPem,
  type ServerTlsConfig,
  systemAuthorities,
  type TlsFault,
  tlsProtocol,
} from '#contract';
import { keyFilesOf } from '../contract/internal.ts';

/** TLS settings of the port for one configuration: its files are read and validated. */
export interface ServerTls {
  /** Options of a TLS server, without ALPN. */
  readonly options: TlsOptions;
  /** For clients that send no server name (SNI). */
  readonly context: SecureContext;
  /** Changes with every setting and the content of every file. */
  readonly fingerprint: string;
}

/** Reads the files, and receives errors of the TLS settings. */
interface Findings {
  readonly read: (path: string) => Uint8Array;
  readonly errors: ConfigError[];
  readonly warnings: ConfigError[];
}

interface Pair {
  readonly cert: string;
  readonly key: string;
  readonly leaf: X509Certificate;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const EXPIRES_SOON_DAYS = 14;
const DAY_MS = 86_400_000;

/** Ties sessions to this server; any constant value works. */
const SESSION_CONTEXT = 'sluice';

const fault: TlsFault = (kind, at, message, cause) => new ConfigError(`TLS_${kind}`, `/tls${at}`, message, { cause });

/**
 * Reads the files of a `tls` object and checks that they match.
 * Codes: TLS_FILE, TLS_INVALID, TLS_VERSION, TLS_CIPHER; warnings TLS_EXPIRY, TLS_CLIENTS_NOBODY.
 * @param findings receives the errors; the path of the file is in the message.
 * @returns null when TLS is disabled or there are errors.
 */
export function readServerTls(config: ServerTlsConfig | undefined, findings: Findings): ServerTls | null {
  if (!config || config.disabled) return null;
  const failed = findings.errors.length;
  const attempt = <T>(make: () => T): T | undefined => {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      findings.errors.push(error);
      return undefined;
    }
  };
  const files = keyFilesOf(config);
  const pairs = files.map((pair) => {
    const cert = attempt(() => readPem(findings.read, pair.certificate!, pair.certificateAt, fault));
    const key = attempt(() => readPem(findings.read, pair.privateKey!, pair.privateKeyAt, fault));
    return cert === undefined || key === undefined ? undefined : attempt(() => checkPair(pair, cert, key, findings));
  });
  const authorities = config.ca_certs.map((path, index) =>
    attempt(() => readAuthority(findings.read, path, `/ca_certs/${index}`)),
  );
  const protocol = attempt(() => tlsProtocol(config, fault));
  if (findings.errors.length > failed) return null;
  const results = pairs as Pair[];
  const common: SecureContextOptions & { ecdhCurve?: string } = {
    ...protocol,
    sessionIdContext: SESSION_CONTEXT,
    honorCipherOrder: true,
    ...(config.enable_mtls && clientTrust(config, results, authorities as string[], findings)),
  };
  const made = results.map((pair, index) => attempt(() => context(common, pair, files[index]!.certificateAt)));
  if (findings.errors.length > failed) return null;
  const contexts = made as [SecureContext, ...SecureContext[]];
  const [first] = results as [Pair, ...Pair[]];
  return {
    options: {
      ...common,
      cert: first.cert,
      key: first.key,
      requestCert: config.enable_mtls,
      rejectUnauthorized: config.enable_mtls,
      ...(results.length > 1 && { SNICallback: chooser(results, contexts) }),
    },
    context: contexts[0],
    fingerprint: createHash('sha256')
      .update(JSON.stringify([config, results.map(({ cert, key }) => [cert, key]), authorities]))
      .digest('base64'),
  };
}

/** Checks that certificate and key match. */
function checkPair(files: KeyFiles, cert: string, key: string, { warnings }: Findings): Pair {
  const { certificate, privateKey, certificateAt, privateKeyAt } = files;
  const leaf = parsed(certificateAt, `${certificate} contains no certificate`, cert, () => new X509Certificate(cert));
  const unusable = `${privateKey} contains no usable private key`;
  const secret = parsed(privateKeyAt, unusable, key, () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(secret)) {
    throw fault('INVALID', privateKeyAt, `the private key ${privateKey} does not match the certificate ${certificate}`);
  }
  const leftDays = (Date.parse(leaf.validTo) - Date.now()) / DAY_MS;
  if (leftDays < EXPIRES_SOON_DAYS) {
    const when = `${leftDays < 0 ? 'expired' : 'expires'} on ${new Date(leaf.validTo).toISOString().slice(0, 10)}`;
    warnings.push(new ConfigError('TLS_EXPIRY', `/tls${certificateAt}`, `the certificate ${certificate} ${when}`));
  }
  return { cert, key, leaf };
}

function readAuthority(read: Findings['read'], path: string, at: string): string {
  const pem = readPem(read, path, at, fault);
  const certificates = pem.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) parsed(at, `${path} contains no certificate`, pem, () => new X509Certificate(pem));
  for (const text of certificates)
    parsed(at, `${path} contains no readable certificate`, text, () => new X509Certificate(text));
  return pem;
}

/** @param pem the text that is parsed. */
function parsed<T>(at: string, message: string, pem: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw fault('INVALID', at, `${message}: ${pemErrorReason(pem, cause)}`, cause);
  }
}

/** CA certificates trusted for client certificates, including those in the server's own chains. */
function clientTrust(
  config: ServerTlsConfig,
  pairs: readonly Pair[],
  extra: readonly string[],
  { warnings }: Findings,
): SecureContextOptions {
  const own = pairs.flatMap(({ cert }) => cert.match(CERTIFICATE) ?? []).filter((text) => new X509Certificate(text).ca);
  const trusted = [...(config.disable_system_ca_pool ? [] : systemAuthorities()), ...extra, ...own];
  if (trusted.length === 0) {
    const message = 'no CA certificate is trusted: every client is rejected';
    warnings.push(new ConfigError('TLS_CLIENTS_NOBODY', '/tls/ca_certs', message));
  }
  return { ca: trusted, allowPartialTrustChain: true };
}

function context(common: SecureContextOptions, { cert, key }: Pair, at: string): SecureContext {
  return parsed(at, 'the settings cannot be used', cert, () => createSecureContext({ ...common, cert, key }));
}

/** Selects the pair for the server name of a client: an exact match is preferred to a wildcard. */
function chooser(pairs: readonly Pair[], contexts: readonly SecureContext[]): NonNullable<TlsOptions['SNICallback']> {
  const find = (name: string, wildcards: boolean) =>
    pairs.findIndex(({ leaf }) => leaf.checkHost(name, { wildcards }) !== undefined);
  return (name, done) => {
    const exact = find(name, false);
    const index = exact < 0 ? find(name, true) : exact;
    done(null, contexts[Math.max(index, 0)]);
  };
}
