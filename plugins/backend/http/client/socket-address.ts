const PREFIX = 'unix://';

/** Whether an address is a Unix socket, such as `unix:///run/app.sock`. */
export function isSocketAddress(address: string): boolean {
  return address.startsWith(PREFIX);
}

/** Path of a Unix socket. */
export function pathOfSocket(address: string): string {
  return address.slice(PREFIX.length);
}

/** URL of an address. Servers on Unix sockets are called by the name `localhost`. */
export function urlOf(address: string): URL {
  return new URL(isSocketAddress(address) ? 'http://localhost' : address);
}
