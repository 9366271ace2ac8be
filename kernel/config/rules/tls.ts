import { ConfigError, type ServerTlsConfig, type TlsProtocol, type TlsProtocolOptions, tlsProtocol } from '#contract';
import { keyFilesOf, speaksOld } from '../../contract/internal.ts';
import type { Report } from '../issues/report.ts';
import type { ServiceRule } from './rule.ts';

/**
 * Checks that a TLS server has certificates with their keys, and versions and cipher suites that the runtime supports;
 * warns of settings without the expected effect.
 *
 * Codes: TLS_KEYS, TLS_VERSION, TLS_CIPHER; warnings TLS_H2C, TLS_CLIENTS_PUBLIC, TLS_OLD_SUITES.
 */
export const serverTls: ServiceRule = ({ tls, use_h2c: wantsH2c }, report) => {
  if (!tls || tls.disabled) return;
  const pairs = keyFilesOf(tls);
  if (pairs.length === 0) report.error('TLS_KEYS', '/tls/keys', 'public key not defined');
  for (const { certificate, privateKey, certificateAt, privateKeyAt } of pairs) {
    if (certificate === undefined) report.error('TLS_KEYS', `/tls${certificateAt}`, 'public key not defined');
    else if (privateKey === undefined) report.error('TLS_KEYS', `/tls${privateKeyAt}`, 'private key not defined');
  }
  if (wantsH2c) report.warn('TLS_H2C', '/use_h2c', 'with tls, HTTP/2 is always offered: use_h2c has no effect');
  if (tls.enable_mtls && !tls.disable_system_ca_pool) {
    report.warn('TLS_CLIENTS_PUBLIC', '/tls/enable_mtls', 'any client with a publicly issued certificate is admitted', {
      hint: '"disable_system_ca_pool": true',
    });
  }
  const options = protocol(tls, 'TLS', '/tls', report);
  if (options && speaksOld(tls) && !hasOldSuite(options)) {
    const message = `no cipher suite supports versions below TLS12: ${tls.min_version} is never negotiated`;
    report.warn('TLS_OLD_SUITES', '/tls/cipher_suites', message);
  }
};

/**
 * Warns of a header with the client's certificate that backends never get.
 *
 * Code: a warning, CLIENT_CERT_UNUSED.
 */
export const forwardedCertificate: ServiceRule = ({ forward_client_cert: config, tls }, report) => {
  const isVerified = tls && !tls.disabled && tls.enable_mtls;
  if (!config || isVerified || config.mode === 'sanitize' || config.mode === 'always_forward_only') return;
  const message = `mode ${config.mode} has no effect without tls.enable_mtls: clients present no certificate`;
  report.warn('CLIENT_CERT_UNUSED', '/forward_client_cert/mode', message, { hint: '"enable_mtls": true' });
};

/**
 * Checks the settings of TLS to backends in the same way.
 * Codes: CLIENT_TLS_VERSION, CLIENT_TLS_CIPHER; a warning CLIENT_TLS_CERTS.
 */
export const clientTls: ServiceRule = ({ client_tls: tls }, report) => {
  if (!tls) return;
  protocol(tls, 'CLIENT_TLS', '/client_tls', report);
  if (tls.client_certs.length > 1) {
    const message = 'if several certificates have the same kind of key, only the first is offered';
    report.warn('CLIENT_TLS_CERTS', '/client_tls/client_certs', message);
  }
};

function protocol(
  config: TlsProtocol | ServerTlsConfig,
  area: string,
  pointer: string,
  report: Report,
): TlsProtocolOptions | null {
  try {
    return tlsProtocol(config, (kind, at, message) => new ConfigError(`${area}_${kind}`, pointer + at, message));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    report.error(error.code, error.pointer, error.message);
    return null;
  }
}

function hasOldSuite({ ciphers }: TlsProtocolOptions): boolean {
  return ciphers.split(':').some((name) => name.endsWith('-SHA'));
}
