import { Failure } from '../budget.ts';
import { type Functions, fn } from '../function.ts';
import { compareTexts, Struct, TypedInteger, type Value } from '../value.ts';

/** Functions on semantic versions (semver.org); missing parts of a version count as 0. */
export const semverFunctions: Functions = {
  semver: fn('string', (text) => parseVersion(text)),
  semverCompare: fn('string string', (constraint, text) => {
    const version = parseVersion(text);
    return alternativesOf(constraint).some((checks) => checks.every((check) => check(version)));
  }),
};

const VERSION =
  /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

class Version extends Struct {
  readonly type = '*semver.Version';
  readonly #numbers: readonly [major: bigint, minor: bigint, patch: bigint];
  readonly #prerelease: string;
  readonly #metadata: string;
  readonly #original: string;

  constructor(numbers: readonly [bigint, bigint, bigint], prerelease: string, metadata: string, original: string) {
    super();
    this.#numbers = numbers;
    this.#prerelease = prerelease;
    this.#metadata = metadata;
    this.#original = original;
  }

  get prerelease(): string {
    return this.#prerelease;
  }

  get numbers(): readonly [bigint, bigint, bigint] {
    return this.#numbers;
  }

  member(name: string): ((args: readonly Value[]) => Value) | undefined {
    const [major, minor, patch] = this.#numbers;
    const members: Readonly<Record<string, (args: readonly Value[]) => Value>> = {
      Major: () => new TypedInteger(major, 'uint64'),
      Minor: () => new TypedInteger(minor, 'uint64'),
      Patch: () => new TypedInteger(patch, 'uint64'),
      Prerelease: () => this.#prerelease,
      Metadata: () => this.#metadata,
      Original: () => this.#original,
      String: () => this.toString(),
      Compare: ([other]) => BigInt(Math.sign(compare(this, demandVersion(other)))),
      LessThan: ([other]) => compare(this, demandVersion(other)) < 0,
      GreaterThan: ([other]) => compare(this, demandVersion(other)) > 0,
      Equal: ([other]) => compare(this, demandVersion(other)) === 0,
    };
    return Object.hasOwn(members, name) ? members[name] : undefined;
  }

  override toString(): string {
    const [prerelease, metadata] = [this.#prerelease && `-${this.#prerelease}`, this.#metadata && `+${this.#metadata}`];
    return this.#numbers.join('.') + prerelease + metadata;
  }

  toJSON(): string {
    return this.toString();
  }
}

function demandVersion(value: Value): Version {
  if (value instanceof Version) return value;
  throw new Failure('the argument must be a version');
}

function parseVersion(text: string): Version {
  const [, major, minor = '0', patch = '0', prerelease = '', metadata = ''] = VERSION.exec(text) ?? [];
  if (major === undefined || text.length > 256) throw new Failure(`not a version: ${JSON.stringify(text)}`);
  return new Version([BigInt(major), BigInt(minor), BigInt(patch)], prerelease, metadata, text);
}

function compare(one: Version, other: Version): number {
  for (const [index, number] of one.numbers.entries()) {
    if (number !== other.numbers[index]) return number < other.numbers[index]! ? -1 : 1;
  }
  return comparePrerelease(one.prerelease, other.prerelease);
}

/** Compares prerelease parts; a version without one comes last. */
function comparePrerelease(one: string, other: string): number {
  if (one === other) return 0;
  if (one === '' || other === '') return one === '' ? 1 : -1;
  const others = other.split('.');
  for (const [index, word] of one.split('.').entries()) {
    const against = others[index];
    if (against === undefined) return 1;
    if (word === against) continue;
    const [isNumber, isOtherNumber] = [/^\d+$/.test(word), /^\d+$/.test(against)];
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    return isNumber ? Number(BigInt(word) - BigInt(against)) : compareTexts(word, against);
  }
  return -1;
}

type Check = (version: Version) => boolean;

const WILDCARD = '(?:\\d+|[xX*])';
const PATTERN = `v?(${WILDCARD})(?:\\.(${WILDCARD}))?(?:\\.(${WILDCARD}))?(-[0-9A-Za-z.-]+)?(?:\\+[0-9A-Za-z.-]+)?`;
const CONSTRAINT = new RegExp(`^(=|==|!=|>|<|>=|=>|<=|=<|~|~>|\\^)?\\s*${PATTERN}$`);
const RANGE = new RegExp(`\\s*(${PATTERN})\\s+-\\s+(${PATTERN})\\s*`, 'g');

/** Alternatives of a constraint: it accepts a version that satisfies all checks of one of them. */
function alternativesOf(text: string): Check[][] {
  if (text.length > 512) throw new Failure('the constraint is too long');
  const plain = text.replace(RANGE, (_, low: string, ...rest: string[]) => `>=${low},<=${rest[4]}`);
  return plain.split('||').map((alternative) =>
    alternative
      .trim()
      .replace(/([=!<>~^])\s+/g, '$1')
      .split(/\s*,\s*|\s+/)
      .map(checkOf),
  );
}

function checkOf(text: string): Check {
  const match = CONSTRAINT.exec(text);
  if (!match) throw new Failure(`not a version constraint: ${JSON.stringify(text)}`);
  const [, operator = '', ...written] = match;
  const digits = written.slice(0, 3);
  // Number of version parts that the constraint specifies, up to the first wildcard.
  const given = digits.findIndex((number) => number === undefined || /[xX*]/.test(number));
  const count = given < 0 ? 3 : given;
  const numbers = digits.map((number, index) => (index < count ? BigInt(number!) : 0n)) as [bigint, bigint, bigint];
  const low = new Version(numbers, written[3]?.slice(1) ?? '', '', text);
  const accepts = operators[operator]!(low, count);
  // A prerelease version matches only if the constraint also contains a prerelease.
  return (version) => (version.prerelease === '' || low.prerelease !== '') && accepts(version);
}

/** The lowest version above all those with the same first `count` parts. */
function above({ numbers }: Version, count: number): Version | null {
  if (count === 0) return null;
  const next = numbers.map((number, index) => (index < count - 1 ? number : index === count - 1 ? number + 1n : 0n));
  return new Version(next as [bigint, bigint, bigint], '', '', '');
}

function within(low: Version, high: Version | null): Check {
  return (version) => compare(version, low) >= 0 && (high === null || compare(version, high) < 0);
}

const equal = (low: Version, count: number): Check =>
  count === 3 ? (version) => compare(version, low) === 0 : within(low, above(low, count));
const atLeast = (low: Version): Check => within(low, null);
const atMost = (low: Version, count: number): Check => {
  const high = above(low, count);
  return count === 3
    ? (version) => compare(version, low) <= 0
    : (version) => high === null || compare(version, high) < 0;
};
const tilde = (low: Version, count: number): Check => within(low, above(low, Math.min(count, 2)));
const caret = (low: Version, count: number): Check => {
  const firstNonZero = low.numbers.findIndex((number) => number !== 0n);
  const fixed = firstNonZero < 0 ? count : Math.min(firstNonZero + 1, count);
  return within(low, above(low, fixed));
};

const operators: Readonly<Record<string, (low: Version, count: number) => Check>> = {
  '': equal,
  '=': equal,
  '==': equal,
  '!=': (low, count) => {
    const accepts = equal(low, count);
    return (version) => !accepts(version);
  },
  '>': (low, count) => {
    const high = above(low, count);
    return count === 3
      ? (version) => compare(version, low) > 0
      : (version) => high !== null && compare(version, high) >= 0;
  },
  '<': (low) => (version) => compare(version, low) < 0,
  '>=': atLeast,
  '=>': atLeast,
  '<=': atMost,
  '=<': atMost,
  '~': tilde,
  '~>': tilde,
  '^': caret,
};
