import { type Encoding, type HostList, isObject } from '#contract';
import { containedCall } from './contained-call.ts';
import type { PlaceGuards } from './place-guards.ts';

/** Contains the faults of an encoding. Errors from `decode` and `passes` mean that a body cannot be read. */
export function containedEncoding(encoding: Encoding, guards: PlaceGuards): Encoding {
  const { encode, decode, passes } = encoding;
  const reading = { instead: null, mayThrow: true } as const;
  return {
    ...encoding,
    // An encoding without these two functions is encoded and decoded by the functions below, which are monitored.
    shapes: undefined,
    merges: undefined,
    ...(encode && {
      encode: containedCall(encode.bind(encoding), guards.of('encode'), {
        instead: null,
        wanted: 'a content type and a body',
        isSound: isEncoded,
      }),
    }),
    ...(decode && {
      decode: containedCall(decode.bind(encoding), guards.of('decode'), {
        ...reading,
        wanted: 'data or null',
        isSound: (value) => value === null || isObject(value),
      }),
    }),
    ...(passes && {
      passes: containedCall(passes.bind(encoding), guards.of('passes'), {
        ...reading,
        wanted: 'a body or null',
        isSound: (value) => value === null || isEncoded(value),
      }),
    }),
  };
}

function isEncoded(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { contentType, body } = value as { readonly contentType?: unknown; readonly body?: unknown };
  return typeof contentType === 'string' && (typeof body === 'string' || body instanceof Uint8Array);
}

const noHosts: readonly string[] = Object.freeze([]);

/** Contains the faults of a service discovery: while it fails, the last known hosts are used. */
export function containedHosts(hosts: HostList, guards: PlaceGuards): HostList {
  let last = noHosts;
  const current = containedCall(() => hosts.current, guards.of('current'), {
    instead: () => last,
    wanted: 'a list of addresses',
    isSound: (value) => Array.isArray(value) && value.every((address) => typeof address === 'string'),
  });
  return {
    ...(hosts.fixed && { fixed: true }),
    get current() {
      last = current();
      return last;
    },
  };
}
