import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomSlot, SLOTS, slotOf, slotsOf } from '../../../../plugins/proxy/split/slots.ts';

function counts(slots: Uint8Array, variants: number): number[] {
  const all = new Array<number>(variants).fill(0);
  for (const slot of slots) all[slot]!++;
  return all;
}

/** Slots that each change takes from a variant, by `from>to`. */
function moves(before: readonly number[], after: readonly number[]): Record<string, number> {
  const [old, now] = [slotsOf(before), slotsOf(after)];
  const moved: Record<string, number> = {};
  for (let at = 0; at < SLOTS; at++) {
    if (old[at] === now[at]) continue;
    const key = `${old[at]}>${now[at]}`;
    moved[key] = (moved[key] ?? 0) + 1;
  }
  return moved;
}

describe('the slots of a split', () => {
  it('are distributed by weight', () => {
    deepEqual(counts(slotsOf([90, 10]), 2), [9000, 1000]);
    deepEqual(counts(slotsOf([1, 1, 1]), 3), [3334, 3333, 3333]);
    deepEqual(counts(slotsOf([0, 1, 3]), 3), [0, 2500, 7500]);
    deepEqual(counts(slotsOf([0, 1, 1, 1, 0]), 5), [0, 3333, 3333, 3334, 0]);
    deepEqual(counts(slotsOf([100, 0]), 2), [10_000, 0]);
  });

  it('include at least one slot for the smallest weight, and none for the weight 0', () => {
    deepEqual(counts(slotsOf([1_000_000, 0.001]), 2), [9999, 1]);
    deepEqual(counts(slotsOf([0.001, 1_000_000]), 2), [1, 9999]);
    deepEqual(counts(slotsOf([0, 1e-300, 1_000_000]), 3), [0, 1, 9999]);
  });

  it('of two variants move from the variant that shrinks to the one that grows, and only as many as necessary', () => {
    const shares = Array.from({ length: 100 }, (_, share) => share);
    for (const from of shares.filter((share) => share % 7 === 0)) {
      for (const to of shares.filter((share) => share % 9 === 0 && share !== from)) {
        const key = to > from ? '0>1' : '1>0';
        deepEqual(moves([100 - from, from], [100 - to, to]), { [key]: Math.abs(to - from) * 100 });
      }
    }
  });

  it('of several variants stay with their variant if its share has not changed', () => {
    deepEqual(moves([80, 10, 10], [70, 20, 10]), { '0>1': 1000 });
    deepEqual(moves([80, 10, 10], [75, 10, 15]), { '0>2': 500 });
    deepEqual(moves([70, 20, 10], [85, 5, 10]), { '1>0': 1500 });
    deepEqual(moves([60, 10, 10, 20], [50, 20, 10, 20]), { '0>1': 1000 });
  });

  it('move to an added variant only as far as its share requires', () => {
    deepEqual(moves([90, 10], [80, 10, 10]), { '0>2': 1000 });
    deepEqual(moves([60, 40], [50, 40, 10]), { '0>2': 1000 });
  });

  it('are selected evenly by random numbers and by similar names, and always identically for the same name', () => {
    const stable = slotsOf([90, 10]);
    for (const draw of [(at: number) => slotOf(`user-${at}`), (at: number) => slotOf(String(at)), randomSlot]) {
      let canary = 0;
      for (let at = 0; at < 10_000; at++) if (stable[draw(at)] === 1) canary++;
      ok(canary > 880 && canary < 1120, `${canary}`);
    }
    // The values are fixed, because a release must not assign other variants to callers.
    deepEqual([slotOf('ada'), slotOf('grace'), slotOf('')], [4617, 251, 6689]);
    equal(slotOf('x'.repeat(100_000)) < SLOTS, true);
  });
});
