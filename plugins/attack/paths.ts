import type { AttackedEndpoint } from '#contract';

/**
 * Interprets a path as lenient servers do: decoded twice, without dot segments, matrix parameters and repeated slashes,
 * in lowercase.
 */
export function lenientPath(path: string): string {
  const segments: string[] = [];
  for (const segment of decodedPath(decodedPath(path)).replaceAll('\\', '/').split('/')) {
    const plain = segment.replace(/;.*$/, '').trim();
    if (plain === '..') segments.pop();
    else if (plain !== '' && plain !== '.') segments.push(plain);
  }
  return `/${segments.join('/')}`.toLowerCase();
}

/** Decodes a path without failing; control characters become spaces. */
export function decodedPath(path: string): string {
  return path.replaceAll(/%([0-9a-f]{2})/gi, (_text, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code < 0x20 ? ' ' : String.fromCharCode(code);
  });
}

/** Splits a URL of a backend. */
export function splitUrl(url: string): { readonly origin: string; readonly path: string; readonly query: string } {
  const [, origin = '', path = '', query = ''] = /^([a-z][a-z\d+.-]*:\/\/[^/?#]*)?([^?]*)\??(.*)$/is.exec(url) ?? [];
  return { origin, path, query };
}

/** Finds an endpoint, other than the given one, whose path a request matches. */
export function otherEndpointOf(
  endpoints: readonly AttackedEndpoint[],
  path: string,
  not: string,
): AttackedEndpoint | undefined {
  const given = path.split('/');
  const matches = ({ config: { endpoint } }: AttackedEndpoint): boolean => {
    const wanted = endpoint.split('/');
    if (wanted.at(-1) === '*') return wanted.slice(0, -1).every((segment, at) => isLike(segment, given[at]));
    return wanted.length === given.length && wanted.every((segment, at) => isLike(segment, given[at]));
  };
  const others = endpoints.filter(({ id }) => id !== not);
  return others.find(matches) ?? others.find(({ config }) => config.endpoint === '/__catchall');
}

function isLike(segment: string, given: string | undefined): boolean {
  return segment === given || (segment.includes('{') && given !== undefined && given !== '');
}
