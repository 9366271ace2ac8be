/** Which endpoints are for which hosts. */
export interface VirtualHosts {
  /** What may stand behind `/__virtual/`. */
  readonly names: readonly string[];
  /** @param host as the client says it. @returns null for a host that is none of them. */
  nameOf(host: string): string | null;
}

/** What the paths of endpoints begin with that are for some hosts only. */
export const VIRTUAL = '/__virtual/';

/** The name in the path of such an endpoint; undefined for any other endpoint. */
export function virtualName(path: string): string | undefined {
  return path.startsWith(VIRTUAL) ? path.slice(VIRTUAL.length).split('/', 1)[0]! : undefined;
}
