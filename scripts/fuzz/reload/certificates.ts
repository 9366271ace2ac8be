import { X509Certificate } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KeyPair, makeCertificates } from '../../../test/support/certificates.ts';

/** States of the files that `secured` configurations name. */
export const certificateStates = ['first', 'renewed', 'broken', 'mismatched', 'deleted'] as const;
export type CertificateState = (typeof certificateStates)[number];

/** The real functions are copied, because those of `node:fs` may be failing. */
const [write, remove] = [writeFileSync, rmSync];

/** Two certificates, whose files are put into the folder of a run in any state. */
export interface CertificateFiles {
  /** @returns the fingerprint of the certificate in the files; null when they cannot be used. */
  put(folder: string, state: CertificateState): string | null;
  remove(): void;
}

export function openCertificates(): CertificateFiles {
  const certificates = makeCertificates();
  const authority = certificates.authority('authority');
  const first = certificates.issue('first', authority);
  const renewed = certificates.issue('renewed', authority);
  const put = (folder: string, certificate: string, key: string): void => {
    write(join(folder, 'gateway.pem'), certificate);
    write(join(folder, 'gateway.key'), key);
  };
  const good = (folder: string, { certificatePem, privateKeyPem }: KeyPair): string => {
    put(folder, certificatePem, privateKeyPem);
    return new X509Certificate(certificatePem).fingerprint256;
  };
  const states: Readonly<Record<CertificateState, (folder: string) => string | void>> = {
    first: (folder) => good(folder, first),
    renewed: (folder) => good(folder, renewed),
    broken: (folder) => put(folder, renewed.certificatePem.slice(0, 200), renewed.privateKeyPem),
    mismatched: (folder) => put(folder, renewed.certificatePem, first.privateKeyPem),
    deleted: (folder) => remove(join(folder, 'gateway.pem'), { force: true }),
  };
  return { put: (folder, state) => states[state](folder) ?? null, remove: () => certificates.remove() };
}
