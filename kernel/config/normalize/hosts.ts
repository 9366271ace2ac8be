import { isIPv6 } from 'node:net';
import { findNear } from '#contract';

const ADDRESS = /^(?:(https?):\/\/)?(\[[^\]/]*\]|[\w.-]+)(?::(\d{1,5}))?(\/(?!\/)[^\s?#\\{}"<>^`|]*)?$/i;

/** A Unix socket, whose path can have 107 bytes. A base path cannot follow. */
const SOCKET = /^unix:\/\/\/[^\s?#\\{}"<>^`|]{0,105}[^\s?#\\{}"<>^`|/]$/;

/**
 * Normalizes a base URL: adds `http://` unless it says `https://`, and removes the trailing slash.
 * @returns undefined if the text is neither `name[:port][/path]` with an optional http or https scheme, nor a Unix socket, such as
 * `unix:///run/app.sock`, which is returned as it is.
 */
export function cleanHost(host: string): string | undefined {
  if (SOCKET.test(host) && Buffer.byteLength(host) <= LONGEST_SOCKET) return host;
  const match = ADDRESS.exec(host);
  if (!match) return undefined;
  const [, scheme = 'http', name, port, path = ''] = match as unknown as [string, string?, string?, string?, string?];
  if (name!.startsWith('[') && !isIPv6(name!.slice(1, -1))) return undefined;
  if (port !== undefined && (Number(port) === 0 || Number(port) > 65_535)) return undefined;
  return `${scheme.toLowerCase()}://${name}${port === undefined ? '' : `:${port}`}${path.replace(/\/+$/, '')}`;
}

/** Maximum length of `unix://` with a path, in bytes. */
const LONGEST_SOCKET = 114;

/** Common errors in base URLs, with hints. */
const slips: readonly (readonly [pattern: RegExp, hint: (host: string) => string | undefined])[] = [
  [/^unix:/i, () => 'an absolute path of at most 107 bytes after unix://, as in "unix:///run/app.sock"'],
  [/\{/, () => '"disable_host_sanitize": true'],
  [/^(?!https?:)[a-z][\w+.-]*:\/\//i, otherScheme],
  [/[,;]|\S\s+\S/, () => 'one entry of the list for each host'],
  [/[?#]/, () => "the path belongs in 'url_pattern'"],
  [/(?:^|\/\/)[\da-f]*:[\da-f:]*:/i, () => 'write an IPv6 address in brackets: [::1]'],
  [/:\d+$/, () => 'a port is a number from 1 to 65535'],
  [/^https?:?\/+[^/@]+$/i, (host) => repaired(host.replace(/^(https?):?\/+/i, '$1://'))],
  [/@/, () => 'user names and passwords are not allowed in a host'],
];

/** Form of a base URL that is safe to show in messages. */
export function shownHost(host: string): string {
  return host.replace(/\/\/[^/@]*@/, '//***@');
}

/** Hint for a text that is not a base URL; undefined if the error is not a known one. */
export function hostHint(host: string): string | undefined {
  return slips.find(([pattern]) => pattern.test(host))?.[1](host);
}

/** Hint for a scheme that was meant as HTTP, or for one of another protocol. */
function otherScheme(host: string): string | undefined {
  const [scheme = '', ...rest] = host.split('://');
  const near = findNear(scheme, ['http', 'https']);
  const meant = near && repaired(`${near.name}://${rest.join('://')}`);
  return meant ?? 'http:// or https://; set "disable_host_sanitize": true if a component uses another protocol';
}

function repaired(host: string): string | undefined {
  return cleanHost(host) && JSON.stringify(host);
}
