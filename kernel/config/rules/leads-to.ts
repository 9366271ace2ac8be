/** Where something of this process listens; no address for every one of the machine. */
export interface Listening {
  readonly address: string;
  readonly port: number;
}

/** True when a host of a backend, as in `http://name:port`, is certainly where something of this process listens. */
export function leadsTo(host: string, { address, port }: Listening): boolean {
  const url = URL.parse(host);
  if (!url || (Number(url.port) || (url.protocol === 'https:' ? 443 : 80)) !== port) return false;
  const to = plainName(url.hostname);
  const at = plainName(address);
  if (to === at) return true;
  if (isAny(at)) return isLoopback(to) || isAny(to);
  if (isAny(to) || to === 'localhost') return isLoopback(at);
  return at === 'localhost' && isLoopback(to);
}

/** One spelling of a name or address. */
function plainName(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(name) ?? [];
  if (high !== undefined) return [high, low].flatMap((part) => bytesOf(Number.parseInt(part!, 16))).join('.');
  return name.endsWith('.localhost') ? 'localhost' : name;
}

function bytesOf(pair: number): number[] {
  return [pair >> 8, pair & 255];
}

/** Who connects to no address in particular comes out at the machine itself. */
function isAny(name: string): boolean {
  return name === '' || name === '0.0.0.0' || name === '::';
}

function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '::1' || name.startsWith('127.');
}
