import type { BackendSite } from '#contract';

/** Address formed by the host of a backend and a field of the component. */
export interface Address {
  /** Scheme in lowercase, such as `nats`. */
  readonly scheme: string;
  /** Part after the scheme, without parameters. */
  readonly place: string;
  /** Values of each parameter, in order. */
  readonly params: ReadonlyMap<string, readonly string[]>;
  /** The complete address, as configured. */
  readonly text: string;
}

/** Site of the component that the address belongs to. */
export type AddressSite = Pick<BackendSite<unknown>, 'backend' | 'fault' | 'warn'>;

/**
 * Joins the first host of the backend and the component's part of the address.
 * @param field field of the component that contains the rest.
 * @throws ConfigError PUBSUB_HOST, PUBSUB_ADDRESS
 */
export function addressOf(site: AddressSite, field: string, rest: string): Address {
  const [host, ...others] = site.backend.host;
  if (host === undefined) {
    throw site.fault('PUBSUB_HOST', '', 'the backend has no host', { hint: '"host": ["nats://"]' });
  }
  if (others.length > 0) site.warn('PUBSUB_HOSTS', '', `only the first host, ${host}, is used`);
  const text = host + rest;
  const [, scheme, place, search = ''] = /^([a-z][a-z\d+.-]*):\/\/([^?#]*)(?:\?([^#]*))?$/i.exec(text) ?? [];
  if (scheme === undefined || place === undefined) {
    throw site.fault('PUBSUB_ADDRESS', `/${field}`, `"${text}" is not a valid address`, {
      hint: 'for example "nats://orders.created"',
    });
  }
  const params = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(search)) {
    const values = params.get(name);
    if (values) values.push(value);
    else params.set(name, [value]);
  }
  return { scheme: scheme.toLowerCase(), place, params, text };
}

/** Rejects parameters that the scheme does not support. @throws ConfigError PUBSUB_PARAMETER */
export function onlyParams(site: AddressSite, field: string, address: Address, known: readonly string[]): void {
  for (const name of address.params.keys()) {
    if (known.includes(name)) continue;
    const others = known.length > 0 ? `supported: ${known.join(', ')}` : 'no parameters are supported';
    throw site.fault('PUBSUB_PARAMETER', `/${field}`, `"${address.text}" has an unknown parameter "${name}"`, {
      hint: others,
    });
  }
}

/** Reads a parameter that may occur once. @throws ConfigError PUBSUB_PARAMETER */
export function paramOf(site: AddressSite, field: string, address: Address, name: string): string | undefined {
  const values = address.params.get(name);
  if (values === undefined) return undefined;
  if (values.length === 1 && values[0] !== '') return values[0];
  const what = values.length > 1 ? 'more than one value' : 'no value';
  throw site.fault('PUBSUB_PARAMETER', `/${field}`, `"${address.text}": the parameter "${name}" has ${what}`);
}
