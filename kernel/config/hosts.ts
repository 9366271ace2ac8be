import { isIPv6 } from 'node:net';

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
