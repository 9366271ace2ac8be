const names =
  'code|state|key|pass|passwd|pwd|sig|auth|jwt|session|sid|assertion|(?:x[-_](?:amz|goog)[-_])?credential|(?:[\\w.-]*[-_])?(?:token|secret|password|signature)|(?:[\\w.-]*[-_])?api[-_]?key|access[-_]?key|session[-_]?id|(?:access|id|refresh|auth)token';

/** Name of a parameter that contains a credential, optionally with brackets of a list. */
const credential = new RegExp(`^(?:${names})(?:\\[\\w*\\])?$`, 'i');

/** Fast check that most queries do not pass: finds a name that ends like that of a credential. */
const suspicious =
  /(?:code|state|key|pass|passwd|pwd|sig|auth|jwt|session|sid|session[-_]?id|assertion|credential|token|secret|password|signature)(?:\[\w*\])?=/i;
/** Matches only at the beginning of a parameter: searching from each `%` would take quadratic time. */
const encodedName = /(?:^|&)[^=&%]*%[^=&]*=/;

/**
 * Masks a query for logs, events and spans: values of credentials such as `token` or `client_secret` become `***`.
 * Returns a query without credentials unchanged.
 * @param search undecoded, without `?`.
 */
export function maskQuery(search: string): string {
  if (search === '' || !(suspicious.test(search) || hasEncodedName(search))) return search;
  return search
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      return equals > 0 && credential.test(decoded(pair.slice(0, equals))) ? `${pair.slice(0, equals)}=***` : pair;
    })
    .join('&');
}

function hasEncodedName(search: string): boolean {
  return search.includes('%') && encodedName.test(search);
}

/** Masks the query of a request target or URL. */
export function maskTarget(target: string): string {
  const mark = target.indexOf('?');
  if (mark < 0) return target;
  const search = target.slice(mark + 1);
  const masked = maskQuery(search);
  return masked === search ? target : target.slice(0, mark + 1) + masked;
}

/** Decodes a component; invalid percent-encoding is kept unchanged. */
function decoded(name: string): string {
  if (!name.includes('%')) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
