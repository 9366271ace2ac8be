import type { DeniedAddresses } from '#contract';
import type { TlsClient } from '../tls/client-tls.ts';

/** Addresses of NATS servers, and the credentials to connect with. */
export interface NatsServers {
  /** Server addresses, such as `broker.internal:4222`; members of one cluster. */
  readonly servers: readonly string[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly token: string | undefined;
  /** Whether TLS is required. Otherwise TLS is used if the server offers it. */
  readonly needsTls: boolean;
}

/** Settings that a connection is opened with. */
export interface NatsSettings extends NatsServers {
  readonly tls: TlsClient;
  /** Destinations that a connection must not reach. */
  readonly denied: Pick<DeniedAddresses, 'has'>;
}

/**
 * Parses addresses such as `nats://user:password@broker:4222,nats://other:4222`; a user without a password is a token,
 * `tls://` requires TLS, and a plain `broker:4222` is accepted.
 * @returns null for an invalid address.
 */
export function parseServers(text: string): NatsServers | null {
  const servers: string[] = [];
  const said = { user: undefined, password: undefined, token: undefined } as {
    -readonly [K in 'user' | 'password' | 'token']: string | undefined;
  };
  let needsTls = false;
  for (const one of text.split(',').map((part) => part.trim())) {
    const [, scheme = 'nats', rest = ''] = /^(?:(nats|tls):\/\/)?([^/]+)\/?$/i.exec(one) ?? [];
    const url = rest === '' ? null : URL.parse(`tcp://${rest}`);
    if (!url?.hostname) return null;
    servers.push(`${url.hostname}:${url.port || '4222'}`);
    needsTls ||= scheme.toLowerCase() === 'tls';
    if (url.password !== '') {
      said.user = decodeURIComponent(url.username);
      said.password = decodeURIComponent(url.password);
    } else if (url.username !== '') said.token = decodeURIComponent(url.username);
  }
  return { servers, ...said, needsTls };
}

/** Returns why a subject is invalid; undefined if it is valid. @param hasWildcards allows `*` and `>` as tokens. */
export function subjectProblem(subject: string, hasWildcards: boolean): string | undefined {
  if (subject === '') return 'the subject is empty';
  if (/[\s\p{Cc}]/u.test(subject)) return 'a subject must not contain white space';
  const tokens = subject.split('.');
  if (tokens.includes('')) return 'a subject must not contain empty tokens';
  if (!hasWildcards && tokens.some((token) => token === '*' || token === '>')) {
    return 'a subject to publish to must not contain wildcards';
  }
  if (tokens.slice(0, -1).includes('>')) return '">" is only allowed at the end of a subject';
  return undefined;
}
