const names =
  'code|state|key|pass|passwd|pwd|sig|auth|jwt|session|sid|assertion|(?:x[-_](?:amz|goog)[-_])?credential|(?:[\\w.-]*[-_])?(?:token|secret|password|signature)|(?:[\\w.-]*[-_])?api[-_]?key|access[-_]?key|session[-_]?id|(?:access|id|refresh|auth)token';

/** The name of a parameter that holds a credential, brackets of a list included. */
const credential = new RegExp(`^(?:${names})(?:\\[\\w*\\])?$`, 'i');

/** True at once for nearly every query that holds none: no name in it ends as those of credentials do. */
const suspicious =
  /(?:code|state|key|pass|passwd|pwd|sig|auth|jwt|session|sid|session[-_]?id|assertion|credential|token|secret|password|signature)(?:\[\w*\])?=|%[^=&]*=/i;

/**
 * A query fit for logs, events and spans: the values of parameters that hold credentials, as `token` or `client_secret`, are
 * `***`. The same text where there are none.
 * @param search as on the wire, without `?`.
 */
export function maskQuery(search: string): string {
  if (search === '' || !suspicious.test(search)) return search;
  return search
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      return equals > 0 && credential.test(decoded(pair.slice(0, equals))) ? `${pair.slice(0, equals)}=***` : pair;
    })
    .join('&');
}

/** The same for a request target or an address: a path, with or without a query. */
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
