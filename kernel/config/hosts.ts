import { isIPv6 } from 'node:net';
import { findNear } from '#contract';

const ADDRESS = /^(?:(https?):\/\/)?(\[[^\]/]*\]|[\w.-]+)(?::(\d{1,5}))?(\/(?!\/)[^\s?#\\{}"<>^`|]*)?$/i;

/**
 * A base address as calls use it: `http://` unless it says `https://`, without a slash at the end.
 * @returns undefined when the text is no `name[:port][/path]` with an optional http or https scheme.
 */
export function cleanHost(host: string): string | undefined {
  const match = ADDRESS.exec(host);
  if (!match) return undefined;
  const [, scheme = 'http', name, port, path = ''] = match as unknown as [string, string?, string?, string?, string?];
  if (name!.startsWith('[') && !isIPv6(name!.slice(1, -1))) return undefined;
  if (port !== undefined && (Number(port) === 0 || Number(port) > 65_535)) return undefined;
  return `${scheme.toLowerCase()}://${name}${port === undefined ? '' : `:${port}`}${path.replace(/\/+$/, '')}`;
}

/** What is often wrong with a base address, and what to write instead. */
const slips: readonly (readonly [pattern: RegExp, hint: (host: string) => string | undefined])[] = [
  [/\{/, () => '"disable_host_sanitize": true'],
  [/^(?!https?:)[a-z][\w+.-]*:\/\//i, otherScheme],
  [/[,;]|\S\s+\S/, () => 'one entry of the list for each host'],
  [/[?#]/, () => "what follows the path belongs in 'url_pattern'"],
  [/(?:^|\/\/)[\da-f]*:[\da-f:]*:/i, () => 'write an IPv6 address in brackets: [::1]'],
  [/:\d+$/, () => 'ports are 1 to 65535'],
  [/^https?:?\/+[^/@]+$/i, (host) => repaired(host.replace(/^(https?):?\/+/i, '$1://'))],
  [/@/, () => 'user names and passwords are not allowed in a host'],
];

/** A base address as messages may show it. */
export function shownHost(host: string): string {
  return host.replace(/\/\/[^/@]*@/, '//***@');
}

/** What to write instead of a text that is no base address; undefined where nothing is known. */
export function hostHint(host: string): string | undefined {
  return slips.find(([pattern]) => pattern.test(host))?.[1](host);
}

/** A scheme that HTTP is meant by, or one of another protocol. */
function otherScheme(host: string): string | undefined {
  const [scheme = '', ...rest] = host.split('://');
  const near = findNear(scheme, ['http', 'https']);
  const meant = near && repaired(`${near.name}://${rest.join('://')}`);
  return meant ?? 'http:// or https://; "disable_host_sanitize": true where a component speaks another protocol';
}

function repaired(host: string): string | undefined {
  return cleanHost(host) && JSON.stringify(host);
}
