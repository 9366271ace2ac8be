import { Failure } from '../budget.ts';
import { int64, integerOf, Struct, TypedInteger, type Value } from '../value.ts';
import { duration } from './duration.ts';
import { formatTime } from './layout.ts';
import { type Clock, clockAt, DAYS, MONTHS } from './zone.ts';

/** A point in time with a time zone, like Go's `time.Time`. */
export class Time extends Struct {
  readonly type = 'time.Time';
  readonly #milliseconds: number;
  /** Nanoseconds within the millisecond. */
  readonly #nanoseconds: number;
  readonly #zone: string | number;

  /** @param zone a name such as `Europe/Rome`, `UTC`, `Local`, or an offset in minutes. @param nanoseconds below 1,000,000. */
  constructor(milliseconds: number, zone: string | number = 'Local', nanoseconds = 0) {
    super();
    if (!(Math.abs(milliseconds) <= 8.64e15)) throw new Failure('the time is out of range');
    this.#milliseconds = milliseconds;
    this.#zone = zone;
    this.#nanoseconds = nanoseconds;
  }

  get milliseconds(): number {
    return this.#milliseconds;
  }

  /** Nanosecond within the second. */
  get nanosecond(): number {
    return (((this.#milliseconds % 1000) + 1000) % 1000) * 1_000_000 + this.#nanoseconds;
  }

  get clock(): Clock {
    return clockAt(this.#milliseconds, this.#zone);
  }

  get seconds(): number {
    return Math.floor(this.#milliseconds / 1000);
  }

  /** Returns the same point in time in another time zone. */
  in(zone: string | number): Time {
    return new Time(this.#milliseconds, zone, this.#nanoseconds);
  }

  /** The time later by a number of nanoseconds. */
  plus(nanoseconds: bigint): Time {
    const all = BigInt(this.#milliseconds) * 1_000_000n + BigInt(this.#nanoseconds) + nanoseconds;
    const rest = ((all % 1_000_000n) + 1_000_000n) % 1_000_000n;
    return new Time(Number((all - rest) / 1_000_000n), this.#zone, Number(rest));
  }

  member(name: string): ((args: readonly Value[]) => Value) | undefined {
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    return member && ((args) => member(this, args));
  }

  override toString(): string {
    return formatTime(this, '2006-01-02 15:04:05.999999999 -0700 MST');
  }

  toJSON(): string {
    return formatTime(this, '2006-01-02T15:04:05.999999999Z07:00');
  }
}

const members: Readonly<Record<string, (time: Time, args: readonly Value[]) => Value>> = {
  Year: ({ clock }) => BigInt(clock.year),
  Month: ({ clock }) => new TypedInteger(BigInt(clock.month), 'time.Month', MONTHS[clock.month - 1]),
  Day: ({ clock }) => BigInt(clock.day),
  Hour: ({ clock }) => BigInt(clock.hour),
  Minute: ({ clock }) => BigInt(clock.minute),
  Second: ({ clock }) => BigInt(clock.second),
  Nanosecond: ({ nanosecond }) => BigInt(nanosecond),
  Weekday: ({ clock }) => new TypedInteger(BigInt(clock.weekday), 'time.Weekday', DAYS[clock.weekday]),
  YearDay: ({ clock }) => BigInt(clock.yearDay),
  Unix: ({ seconds }) => int64(BigInt(seconds)),
  UnixMilli: ({ milliseconds }) => int64(BigInt(milliseconds)),
  UnixNano: (time) => int64(BigInt(time.seconds) * 1_000_000_000n + BigInt(time.nanosecond)),
  UTC: (time) => time.in('UTC'),
  Local: (time) => time.in('Local'),
  String: (time) => time.toString(),
  Format: (time, [layout]) => {
    if (typeof layout !== 'string') throw new Failure('Format requires a layout');
    return formatTime(time, layout);
  },
  AddDate: (time, args) => addDate(time, args),
  Add: (time, [nanoseconds]) => time.plus(demandInteger(nanoseconds)),
  Sub: (time, [other]) => duration(difference(time, demandTime(other))),
  Before: (time, [other]) => difference(time, demandTime(other)) < 0n,
  After: (time, [other]) => difference(time, demandTime(other)) > 0n,
  Equal: (time, [other]) => difference(time, demandTime(other)) === 0n,
};

function difference(one: Time, other: Time): bigint {
  const seconds = BigInt(one.seconds - other.seconds) * 1_000_000_000n;
  return seconds + BigInt(one.nanosecond - other.nanosecond);
}

function addDate(time: Time, args: readonly Value[]): Time {
  const [years = 0, months = 0, days = 0] = args.map((value) => Number(demandInteger(value)));
  const { year, month, day } = time.clock;
  const shift = Date.UTC(year + years, month - 1 + months, day + days) - Date.UTC(year, month - 1, day);
  return time.plus(BigInt(shift || 0) * 1_000_000n);
}

function demandInteger(value: Value): bigint {
  return integerOf(value) ?? wrong('an integer');
}

function demandTime(value: Value): Time {
  return value instanceof Time ? value : wrong('a time');
}

function wrong(expected: string): never {
  throw new Failure(`the argument must be ${expected}`);
}
