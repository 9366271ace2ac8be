import crypto, { type BinaryLike, createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { type Frozen, findFrozen, frozen } from '../values/frozen.ts';
import { sharedPatch } from '../values/shared-patch.ts';
import { currentSession } from './session.ts';

/** Creates the random values of a request. @param seed seed that determines all of them. */
export function frozenBytes(seed: BinaryLike): Frozen['bytes'] {
  const drawn = new Map<string, number>();
  return (kind, count) => {
    const number = (drawn.get(kind) ?? 0) + 1;
    drawn.set(kind, number);
    const chunks: Buffer[] = [];
    for (let length = 0; length < count; length += 32) {
      chunks.push(createHash('sha256').update(seed).update(`\0${kind}\0${number}\0${length}`).digest());
    }
    return Buffer.concat(chunks).subarray(0, count);
  };
}

/**
 * Gives code in sessions with frozen values their time and random values, in place of those of the system: `Date`,
 * `Math.random`, `process.hrtime` and the random functions of `node:crypto`. Other code is not affected.
 * @returns a function that ends this; the last call restores the functions of Node.js.
 */
export const freeze = sharedPatch(patch);

type Method = (this: unknown, ...args: unknown[]) => unknown;

function patch(): () => void {
  findFrozen(() => currentSession()?.frozen);
  const { Date: systemDate } = globalThis;
  globalThis.Date = new Proxy(systemDate, {
    construct(target, args, newTarget) {
      const values = args.length === 0 ? frozen() : undefined;
      return Reflect.construct(target, values ? [values.now] : args, newTarget) as Date;
    },
    apply: (target) => new target(Date.now()).toString(),
  });
  const webCrypto = Object.getPrototypeOf(crypto.webcrypto) as object;
  const ends = [
    replace(systemDate, 'now', ({ now }) => now),
    replace(Math, 'random', (values) => values.bytes('number', 6).readUIntBE(0, 6) / 2 ** 48),
    replace(process, 'hrtime', ({ now }, [since]) => elapsed(now, since as [number, number] | undefined)),
    replace(crypto, 'randomUUID', uuid),
    replace(webCrypto, 'randomUUID', uuid),
    replace(crypto, 'randomBytes', (values, [size, callback]) => {
      const bytes = values.bytes('bytes', size as number);
      return typeof callback === 'function' ? process.nextTick(callback, null, bytes) : bytes;
    }),
    replace(crypto, 'randomInt', integer),
    replace(crypto, 'randomFillSync', fill),
    // `getRandomValues` of `node:crypto` calls this method, so it is replaced as well.
    replace(webCrypto, 'getRandomValues', fill),
  ];
  // Modules that import a function by its name also get the replaced function.
  syncBuiltinESMExports();
  return () => {
    for (const end of ends.toReversed()) end();
    globalThis.Date = systemDate;
    findFrozen(null);
    syncBuiltinESMExports();
  };
}

/** Replaces a function for code with frozen values. */
function replace(holder: object, name: string, make: (values: Frozen, args: unknown[]) => unknown): () => void {
  const methods = holder as Record<string, Method>;
  const own = Object.getOwnPropertyDescriptor(methods, name);
  const original = methods[name]!;
  const replaced = function (this: unknown, ...args: unknown[]): unknown {
    const values = frozen();
    return values ? make(values, args) : original.apply(this, args);
  };
  // `process.hrtime` has the function `bigint` as a property, which is replaced as well.
  Object.defineProperty(methods, name, {
    value: Object.assign(replaced, original),
    configurable: true,
    writable: true,
    enumerable: own?.enumerable ?? true,
  });
  return () => {
    if (own) Object.defineProperty(methods, name, own);
    else delete methods[name];
  };
}

/** The result of `process.hrtime`: seconds and nanoseconds. */
function elapsed(now: number, [seconds, nanoseconds]: [number, number] = [0, 0]): [number, number] {
  const left = BigInt(Math.round(now * 1e6)) - BigInt(seconds) * 1_000_000_000n - BigInt(nanoseconds);
  return [Number(left / 1_000_000_000n), Number(left % 1_000_000_000n)];
}

function uuid(values: Frozen): string {
  const bytes = values.bytes('uuid', 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function integer(values: Frozen, args: unknown[]): unknown {
  const [first, second] = args as number[];
  const [from, to] = typeof second === 'number' ? [first!, second] : [0, first!];
  const value = from + (values.bytes('integer', 6).readUIntBE(0, 6) % (to - from));
  const callback = args.at(-1);
  return typeof callback === 'function' ? process.nextTick(callback, null, value) : value;
}

function fill(values: Frozen, [target, offset = 0, size]: unknown[]): unknown {
  const view = target as NodeJS.ArrayBufferView;
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  const from = offset as number;
  bytes.set(values.bytes('bytes', (size as number | undefined) ?? bytes.length - from), from);
  return target;
}
