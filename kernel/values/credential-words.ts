/** Words in the names of fields, headers and parameters that hold credentials, or may: broad, for masking. A part of a regular expression. */
export const credentialWords = 'secret|passw(?:or)?d|passphrase|private|token|credential|api[-_]?key|assertion';
