import type { TlsClient } from '../client-tls.ts';

/** Where a server listens. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** Who the gateway is for a server. */
export interface RedisUser {
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/** What a connection is made with. */
export interface RedisSettings extends RedisUser {
  readonly name: string;
  readonly kind: 'server' | 'cluster' | 'sentinel';
  /** The server; members of the cluster; sentinels. */
  readonly addresses: readonly RedisAddress[];
  readonly database: number;
  readonly clientName: string | undefined;
  /** Redirections followed for one command of a cluster. */
  readonly maxRedirects: number;
  /** Of sentinels: the name of what they watch, and who the gateway is for them. */
  readonly master: { readonly name: string; readonly user: RedisUser } | null;
  readonly connectMs: number;
  /** Longest wait for a response. */
  readonly commandMs: number;
  /** Wait before the first and before later attempts to connect again. */
  readonly backoffMs: { readonly least: number; readonly most: number };
  /** Null for a plain connection. */
  readonly tls: TlsClient | null;
}
