import type { AttackRequest } from '#contract';
import { agent } from './baseline.ts';

/** Maximum number of characters of a header value or body that is printed. */
const MAX_TEXT = 400;

/**
 * Formats a request of an attack as a shell command: curl, or the bytes for a plain connection.
 * @param address such as `http://localhost:8080`. @param shown placeholders for credentials, by value.
 */
export function showRequest(request: AttackRequest | string, address: URL, shown: ReadonlyMap<string, string>): string {
  if (typeof request === 'string') return `printf ${bytes(request)} | nc ${address.hostname} ${address.port}`;
  const { method, target, headers, body, bodyCommand } = request;
  // curl sends its own User-Agent unless the header is removed.
  const options = headers
    .filter(([, value]) => value !== agent[1])
    .map(([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`, shown)}`);
  const data = bodyCommand ? [`--data-binary @<(${bodyCommand})`] : dataOf(body, shown);
  const isPath = target.startsWith('/');
  const path = isPath ? [] : [`--request-target ${quoted(target, shown)}`];
  const url = quoted(`${address.origin}${isPath ? target : '/'}`, shown);
  const verb = method === 'HEAD' ? ['--head'] : method === 'GET' ? [] : [`-X ${method}`];
  return ['curl', '-i', '--path-as-is', ...verb, ...options, ...data, ...path, url].join(' ');
}

function dataOf(body: AttackRequest['body'], shown: ReadonlyMap<string, string>): string[] {
  return body === undefined ? [] : [`--data-binary ${quoted(shortened(textOf(body)), shown)}`];
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : Buffer.from(body).toString('latin1');
}

function shortened(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}… (${text.length} bytes)`;
}

/** Quotes an argument. Credentials become variables of the shell, and a long run of a character a command. */
function quoted(text: string, shown: ReadonlyMap<string, string>): string {
  for (const [value, name] of shown) {
    if (!text.includes(value)) continue;
    return `"${text
      .split(value)
      .map((part) => part.replaceAll(/["\\$`]/g, '\\$&'))
      .join(name)}"`;
  }
  const [long] = /(.)\1{2000,}/.exec(text) ?? [];
  if (long === undefined) return plain(text);
  const written = `"$(head -c ${long.length} /dev/zero | tr '\\0' ${long[0]})"`;
  return text
    .split(long)
    .map((part) => (part === '' ? '' : plain(part)))
    .join(written);
}

function plain(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Escapes bytes for printf. */
function bytes(text: string): string {
  const escaped = shortened(text)
    .replaceAll('\\', '\\\\')
    .replaceAll('%', '%%')
    .replaceAll('\r', '\\r')
    .replaceAll('\n', '\\n')
    .replaceAll(/[^\x20-\x7e…]/g, (letter) => `\\x${letter.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `'${escaped.replaceAll("'", `'\\''`)}'`;
}
