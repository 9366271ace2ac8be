import type { DeniedAddresses } from '#contract';
import type { TlsClient } from '../client-tls.ts';

/** Where NATS servers are, and who the gateway is for them. */
export interface NatsServers {
  /** As in `broker.internal:4222`; members of one cluster. */
  readonly servers: readonly string[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly token: string | undefined;
  /** Nothing but TLS will do. Without it TLS is spoken where the server offers it. */
  readonly needsTls: boolean;
}

/** What a connection is made with. */
export interface NatsSettings extends NatsServers {
  readonly tls: TlsClient;
  /** Where no connection may lead. */
  readonly denied: DeniedAddresses;
}

/**
 * Reads addresses as in `nats://user:password@broker:4222,nats://other:4222`; a user without a password is a token, `tls://`
 * demands TLS, and a plain `broker:4222` will do.
 * @returns null for what is no address.
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

/** What is wrong with a subject; undefined where nothing is. @param hasWildcards `*` and `>` may stand for tokens. */
export function subjectTrouble(subject: string, hasWildcards: boolean): string | undefined {
  if (subject === '') return 'the subject is empty';
  if (/[\s\p{Cc}]/u.test(subject)) return 'a subject has no white space';
  const tokens = subject.split('.');
  if (tokens.includes('')) return 'a subject has no empty tokens';
  if (!hasWildcards && tokens.some((token) => token === '*' || token === '>')) {
    return 'messages are published to one subject, without wildcards';
  }
  if (tokens.slice(0, -1).includes('>')) return '">" is only allowed at the end of a subject';
  return undefined;
}
