import type { TlsClient } from '../tls/client-tls.ts';

/** Address of a server. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** Credentials for a server. */
export interface RedisUser {
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/** Settings that a connection is opened with. */
export interface RedisSettings extends RedisUser {
  readonly name: string;
  readonly kind: 'server' | 'cluster' | 'sentinel';
  /** Addresses of the single server, of the members of the cluster, or of the sentinels. */
  readonly addresses: readonly RedisAddress[];
  readonly database: number;
  readonly clientName: string | undefined;
  /** Maximum number of redirections followed for one command of a cluster. */
  readonly maxRedirects: number;
  /** For sentinels: the name of the monitored master, and the credentials for the sentinels. */
  readonly master: { readonly name: string; readonly user: RedisUser } | null;
  readonly connectMs: number;
  /** Longest wait for a response, in milliseconds. */
  readonly commandMs: number;
  /** Wait before the first and before later attempts to reconnect, in milliseconds. */
  readonly backoffMs: { readonly least: number; readonly most: number };
  /** TLS settings; null for a connection without TLS. */
  readonly tls: TlsClient | null;
}
