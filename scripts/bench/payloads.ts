const words =
  'harbour lantern copper meadow signal granite willow cinder velvet orchard ember saffron café Zürich naïve Málaga'.split(
    ' ',
  );

/** Reproducible random numbers, each from 0 up to but not including `below`. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function sentence(roll: (below: number) => number, length: number): string {
  return Array.from({ length }, () => words[roll(words.length)]!).join(' ');
}

/** Lengthens the string field `note` until the JSON text has exactly the given number of bytes. */
function fill<T extends { note: string }>(object: T, bytes: number): T {
  const missing = bytes - Buffer.byteLength(JSON.stringify(object));
  if (missing < 0) throw new RangeError(`payload is ${-missing} bytes too long`);
  return { ...object, note: object.note + '.'.repeat(missing) };
}

function user(roll: (below: number) => number, id: number) {
  return {
    id,
    name: sentence(roll, 2),
    email: `user${id}@example.test`,
    active: roll(2) === 1,
    balance: roll(1_000_000) / 100,
    manager: roll(4) === 0 ? null : roll(9_000),
    address: {
      street: `${sentence(roll, 2)} ${roll(200)}`,
      city: sentence(roll, 1),
      zip: String(10_000 + roll(80_000)),
      position: { lat: (roll(18_000_000) - 9_000_000) / 100_000, lon: (roll(36_000_000) - 18_000_000) / 100_000 },
    },
    tags: Array.from({ length: 3 }, () => sentence(roll, 1)),
    note: `said "${sentence(roll, 6)}"\nand left. `,
  };
}

/** Data of the small endpoints: an object of exactly 1 KiB of JSON, nested three deep. */
export const small = fill({ ...user(dice(1), 4711), orders: orders(dice(5), 6) }, 1024);

/** Objects to merge, 1 KiB each. All have the keys `id` and `note`, whose values in the last object must win. */
export const members = {
  a: fill({ id: 1, profile: user(dice(2), 1), visits: numbers(dice(6), 45), note: 'a' }, 1024),
  b: fill({ id: 2, orders: orders(dice(3), 11), note: 'b' }, 1024),
  c: fill({ id: 3, settings: { theme: 'dark', seen: null, limits: numbers(dice(7), 110) }, note: 'c' }, 1024),
};

function numbers(roll: (below: number) => number, length: number): number[] {
  return Array.from({ length }, () => roll(1_000_000) / 100);
}

function orders(roll: (below: number) => number, length: number) {
  return Array.from({ length }, (_, index) => ({
    number: 100_000 + index,
    total: roll(100_000) / 100,
    paid: roll(3) > 0,
    lines: [{ sku: `S-${roll(9_999)}`, count: 1 + roll(9) }],
  }));
}

/** Data of the large endpoint: exactly 64 KiB of JSON, records of mixed types, with some non-ASCII text. */
export const large = fill(records(dice(4)), 64 * 1024);

function records(roll: (below: number) => number) {
  const items: unknown[] = [];
  let bytes = 0;
  while (bytes < 63 * 1024) {
    const item = { ...user(roll, items.length), orders: orders(roll, 1 + roll(4)) };
    items.push(item);
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
  }
  return { page: 1, total: items.length, items, note: '' };
}

/** Responses of the backend, by path. */
export const resources: Readonly<Record<string, unknown>> = {
  '/small': small,
  '/large': large,
  '/part/a': members.a,
  '/part/b': members.b,
  '/part/c': members.c,
};

/** Body to post: the bytes count up, so that a missing one is detected. */
export function bodyOf(length: number): Buffer {
  let body = bodies.get(length);
  if (!body) {
    body = Buffer.alloc(
      length,
      Uint8Array.from({ length: 251 }, (_, index) => index),
    );
    bodies.set(length, body);
  }
  return body;
}

const bodies = new Map<number, Buffer>();
