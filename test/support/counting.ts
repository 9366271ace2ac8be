import { type Meter, meters, offer } from '#contract';

/** A meter that records how often each counter was increased. */
export function countingMeter() {
  const counts = new Map<string, number>();
  const counter = (name: string) => ({
    add: (times: number) => void counts.set(name, (counts.get(name) ?? 0) + times),
  });
  const meter: Meter = { counter, upDownCounter: counter, histogram: () => ({ record() {} }) };
  return { counts, offers: [offer(meters, meter)] };
}
