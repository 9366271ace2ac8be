const problems: readonly (readonly [code: RegExp, words: string])[] = [
  [
    /INTERRUPTED_OR_CANCELLED|BAD_DECRYPT|MISSING_PASSPHRASE|BAD_PASSWORD/,
    'the key is encrypted: store it without a passphrase',
  ],
  [/KEY_(?:VALUES|TYPE)_MISMATCH/, 'the key does not match the certificate'],
  [/KEY_TOO_SMALL/, 'the key is too short'],
  [/MD_TOO_WEAK/, 'it is signed with a hash algorithm that is too weak'],
  [/PEM_|ASN1_|UNSUPPORTED/, 'it is damaged'],
];

/** Explains why a PEM file could not be used. @param cause the error from Node.js; its message is used for unknown causes. */
export function pemErrorReason(pem: string, cause: unknown): string {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  const label = /-----BEGIN ([A-Z ]+)-----/.exec(pem)?.[1];
  if (label === undefined && /NO_START_LINE|UNSUPPORTED/.test(code)) return 'it is not PEM';
  const isOther = /NO_START_LINE/.test(code) || (/UNSUPPORTED/.test(code) && !label!.endsWith('PRIVATE KEY'));
  if (isOther) return `it contains a ${label!.replace(/^.* (?=P[A-Z]+ KEY$)/, '').toLowerCase()}`;
  return problems.find(([pattern]) => pattern.test(code))?.[1] ?? message;
}
