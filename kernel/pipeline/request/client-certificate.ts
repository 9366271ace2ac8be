import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { ClientRequest, ServiceConfig } from '#contract';

type Config = NonNullable<ServiceConfig['forward_client_cert']>;
type Detail = Config['details'][number];

/** Adds `X-Forwarded-Client-Cert` to the headers for backends. */
export type AddCertificateHeader = (client: ClientRequest, list: string[]) => void;

export const CERTIFICATE_HEADER = 'X-Forwarded-Client-Cert';

const isVerified = ({ certificate }: ClientRequest): boolean => certificate !== null;

/**
 * Compiles the header that describes the verified certificate of a client, in Envoy's format: `Key=value` pairs separated by `;`,
 * one element for each proxy, separated by `,`.
 * @returns null if backends never get the header.
 */
export function compileCertificateHeader(config: Config | undefined): AddCertificateHeader | null {
  if (!config || config.mode === 'sanitize') return null;
  const describe = describer(config.details);
  const modes: Readonly<Record<Exclude<Config['mode'], 'sanitize'>, (client: ClientRequest) => string | undefined>> = {
    forward_only: (client) => (isVerified(client) ? received(client) : undefined),
    always_forward_only: received,
    append_forward: (client) => {
      if (!isVerified(client)) return undefined;
      const others = received(client);
      return others === undefined ? describe(client) : `${others},${describe(client)}`;
    },
    sanitize_set: (client) => (isVerified(client) ? describe(client) : undefined),
  };
  const valueFor = modes[config.mode];
  return (client, list) => {
    const value = valueFor(client);
    if (value !== undefined) list.push(CERTIFICATE_HEADER, value);
  };
}

/** The header as the client has sent it. */
function received({ headers }: ClientRequest): string | undefined {
  const values = headers.getAll('x-forwarded-client-cert').filter((value) => value !== '');
  return values.length === 0 ? undefined : values.join(',');
}

/** Describes the certificate of a client; once for each connection, whose certificate is an object of its own. */
function describer(details: readonly Detail[]): (client: ClientRequest) => string {
  const known = new WeakMap<X509Certificate, string>();
  const parts = order.filter((detail) => details.includes(detail)).map((detail) => descriptions[detail]);
  return (client) => {
    const certificate = client.certificate!;
    let element = known.get(certificate);
    if (element === undefined) {
      const hash = certificate.fingerprint256.replaceAll(':', '').toLowerCase();
      const own = valuesOf('By', uris(ownCertificate(client)));
      element = [...own, `Hash=${hash}`, ...parts.flatMap((part) => part(certificate))].join(';');
      known.set(certificate, element);
    }
    return element;
  };
}

function ownCertificate({ raw }: ClientRequest): X509Certificate | undefined {
  return (raw?.request.socket as Partial<TLSSocket> | undefined)?.getX509Certificate?.();
}

/** Order of the details in an element. */
const order: readonly Detail[] = ['cert', 'chain', 'subject', 'uri', 'dns'];

const descriptions: Readonly<Record<Detail, (certificate: X509Certificate) => readonly string[]>> = {
  cert: (certificate) => [`Cert="${encodeURIComponent(certificate.toString())}"`],
  chain: (certificate) => [`Chain="${encodeURIComponent(chainOf(certificate).join(''))}"`],
  subject: ({ subject }) => [`Subject="${distinguishedName(subject ?? '')}"`],
  uri: (certificate) => valuesOf('URI', uris(certificate)),
  dns: ({ subjectAltName }) => valuesOf('DNS', alternativeNames(subjectAltName, 'DNS')),
};

/** Maximum number of certificates in a chain. */
const LONGEST_CHAIN = 10;

function chainOf(certificate: X509Certificate): readonly string[] {
  const chain: string[] = [];
  let next: X509Certificate | undefined = certificate;
  while (next && chain.length < LONGEST_CHAIN) {
    chain.push(next.toString());
    next = next.issuerCertificate;
  }
  return chain;
}

function uris(certificate: X509Certificate | undefined): readonly string[] {
  return alternativeNames(certificate?.subjectAltName, 'URI');
}

/** One entry of the text form of alternative names: special values are quoted as in JSON. */
const ENTRY = /([\w ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/y;

function alternativeNames(text: string | undefined, kind: string): readonly string[] {
  return Array.from((text ?? '').matchAll(new RegExp(ENTRY, 'g')), ([, name, value]) => ({ name, value: value! }))
    .filter(({ name }) => name === kind)
    .map(({ value }) => (value.startsWith('"') ? (JSON.parse(value) as string) : value));
}

function valuesOf(key: string, values: readonly string[]): readonly string[] {
  return values.map((value) => `${key}=${quoted(value)}`);
}

/** Percent-encodes what could end a value, and quotes separators. */
function quoted(value: string): string {
  const plain = value.replace(/[^\x21-\x7e]|["\\]/gu, encodeURIComponent);
  return /[,;=]/.test(plain) ? `"${plain}"` : plain;
}

/**
 * Converts a subject to one line as in RFC 2253: the last part first, separated by commas, which are escaped in values.
 * Quotes, backslashes and other bytes than ASCII are in hexadecimal, so that no value can end the quoted text.
 * @param subject one part a line, with special characters escaped as in RFC 2253.
 */
export function distinguishedName(subject: string): string {
  const line = subject
    .split('\n')
    .toReversed()
    .join(',')
    .replaceAll(/(?<!\\) \+ /g, '+');
  return line.replace(/\\["\\]|"|[^\x20-\x7e]/gu, (text) =>
    Array.from(
      Buffer.from(text.replace(/^\\/, '') || text),
      (byte) => `\\${byte.toString(16).padStart(2, '0').toUpperCase()}`,
    ).join(''),
  );
}
