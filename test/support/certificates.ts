import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Paths and texts of a certificate and its private key, in PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly privateKey: string;
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** Certificates made for one test run, in a directory of their own. */
export interface Certificates {
  readonly directory: string;
  /** Creates a certificate authority. */
  authority(name: string): KeyPair;
  /**
   * A certificate signed by an authority.
   * @param hosts alternative names; by default `localhost` and the loopback addresses. @param subject by default the name.
   */
  issue(name: string, by: KeyPair, hosts?: string, subject?: string): KeyPair;
  remove(): void;
}

/** Creates certificates with the openssl command, valid for one day. */
export function makeCertificates(): Certificates {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-certificates-'));
  const openssl = (...options: string[]) => execFileSync('openssl', options, { stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const pair = (name: string): KeyPair => {
    const certificate = join(directory, `${name}.pem`);
    const privateKey = join(directory, `${name}.key`);
    return {
      certificate,
      privateKey,
      certificatePem: readFileSync(certificate, 'utf8'),
      privateKeyPem: readFileSync(privateKey, 'utf8'),
    };
  };
  const at = (file: string) => join(directory, file);
  return {
    directory,
    authority(name) {
      const subject = ['-subj', `/CN=${name}`, '-days', '1'];
      openssl('req', '-x509', ...newKey, ...subject, '-keyout', at(`${name}.key`), '-out', at(`${name}.pem`));
      return pair(name);
    },
    issue(name, by, hosts = 'DNS:localhost,IP:127.0.0.1,IP:::1', subject = `/CN=${name}`) {
      writeFileSync(at(`${name}.ext`), `subjectAltName=${hosts}\n`);
      const request = ['-utf8', '-subj', subject, '-keyout', at(`${name}.key`), '-out', at(`${name}.csr`)];
      openssl('req', ...newKey, ...request);
      const signer = ['-CA', by.certificate, '-CAkey', by.privateKey, '-CAcreateserial', '-days', '1'];
      openssl(
        'x509',
        '-req',
        '-in',
        at(`${name}.csr`),
        ...signer,
        '-extfile',
        at(`${name}.ext`),
        '-out',
        at(`${name}.pem`),
      );
      return pair(name);
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
