/** Number of slots: a share has a resolution of 0.01 %. */
export const SLOTS = 10_000;

const FREE = 255;

/**
 * Distributes slots to variants by weight; an element is the position of a variant. Each variant but the first takes
 * free slots from a starting point of its own, and the first gets the rest. So a changed weight moves slots only
 * between the variants whose shares change, as long as the ranges do not meet; the ranges of two variants never meet.
 */
export function slotsOf(weights: readonly number[]): Uint8Array {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const slots = new Uint8Array(SLOTS).fill(FREE);
  const rest = weights[0]! > 0 ? 0 : weights.findLastIndex((weight) => weight > 0);
  // Every variant with a weight gets at least one slot, including the first one, to which the remaining slots belong.
  let free = weights[0]! > 0 ? SLOTS - 1 : SLOTS;
  for (let variant = 1; variant < weights.length; variant++) {
    const weight = weights[variant]!;
    const wanted = weight > 0 ? Math.max(1, Math.round((weight / total) * SLOTS)) : 0;
    const count = Math.min(wanted, free);
    free -= count;
    fill(slots, variant, count);
  }
  return slots.map((slot) => (slot === FREE ? rest : slot));
}

function fill(slots: Uint8Array, variant: number, count: number): void {
  let at = Math.floor(startOf(variant - 1) * SLOTS);
  for (let left = count; left > 0; at = (at + 1) % SLOTS) {
    if (slots[at] !== FREE) continue;
    slots[at] = variant;
    left--;
  }
}

/** Starting points that remain far from one another, however many there are: 0, 1/2, 1/4, 3/4, 1/8 and so on. */
function startOf(index: number): number {
  let start = 0;
  for (let rest = index, step = 0.5; rest > 0; rest >>= 1, step /= 2) if (rest & 1) start += step;
  return start;
}

/** Slot of a caller: the same in every process, gateway and release. */
export function slotOf(caller: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < caller.length; at++) hash = Math.imul(hash ^ caller.charCodeAt(at), 0x01000193);
  // Names are hashed, so that callers with similar names do not get similar slots.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return Math.floor((((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32) * SLOTS);
}

export function randomSlot(): number {
  return Math.floor(Math.random() * SLOTS);
}
