import { GatewayError } from '../contract/internal.ts';

/** Validates listen options. @throws GatewayError LISTEN_OPTIONS for anything but `{ port, host }` with values that can be listened on. */
export function demandListenOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null) {
    throw refused(`listen() takes an object such as { port: 8080, host: '127.0.0.1' }, not ${String(options)}`);
  }
  const { port, host, ...others } = options as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw refused(`listen() has no option "${unknown}": use port and host`);
  if (port !== undefined && !isPort(port)) {
    throw refused(`the port of listen() must be an integer from 0 to 65535, not ${String(port)}`);
  }
  if (host !== undefined && typeof host !== 'string') {
    throw refused(`the host of listen() must be a string, not ${String(host)}`);
  }
}

function isPort(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535;
}

function refused(message: string): GatewayError {
  return new GatewayError('LISTEN_OPTIONS', message);
}
