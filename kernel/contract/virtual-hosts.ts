/** Assignment of endpoints to hosts. */
export interface VirtualHosts {
  /** Names that can follow `/__virtual/`. */
  readonly names: readonly string[];
  /** @param host as sent by the client. @returns null for an unknown host. */
  nameOf(host: string): string | null;
}

/** Path prefix of endpoints that serve certain hosts only. */
export const VIRTUAL = '/__virtual/';

/** Name in the path of such an endpoint; undefined for other endpoints. */
export function virtualName(path: string): string | undefined {
  return path.startsWith(VIRTUAL) ? path.slice(VIRTUAL.length).split('/', 1)[0]! : undefined;
}
