/**
 * The random numbers from which an input is generated. Generating again from the same numbers gives the same input, and
 * from changed ones a similar input that the generator allows.
 */
export interface Tape {
  readonly words: readonly number[];
  /** Degree to which the generator prefers small and extreme values. */
  readonly bias: number | undefined;
}

/** Maximum length of tapes that are changed, in numbers. */
export const TAPE_WORDS = 8_192;

/** Replays a tape, and continues with new random numbers behind its end. */
export class TapePlayer {
  readonly #tape: { readonly words: number[]; used: number };
  readonly #more: () => number;
  #at = 0;

  constructor(words: readonly number[], more: () => number, tape = { words: [...words], used: 0 }) {
    this.#tape = tape;
    this.#more = more;
  }

  /** The numbers that were read. */
  get played(): readonly number[] {
    return this.#tape.words.slice(0, this.#tape.used);
  }

  next(): number {
    const { words } = this.#tape;
    if (this.#at === words.length) words.push(this.#more());
    const word = words[this.#at++]!;
    this.#tape.used = Math.max(this.#tape.used, this.#at);
    return word;
  }

  /** Generators copy their source, and some read numbers twice: copies extend the same tape. */
  clone(): TapePlayer {
    const copy = new TapePlayer([], this.#more, this.#tape);
    copy.#at = this.#at;
    return copy;
  }

  getState(): readonly number[] {
    return [this.#at];
  }
}

/** A random number up to and including a maximum. */
export type Pick = (max: number) => number;

type Change = (words: number[], other: readonly number[], pick: Pick) => number[];

const extremes = [0, -1, 1, -(2 ** 31), 2 ** 31 - 1];
const changes: readonly Change[] = [
  function replace(words, _other, pick) {
    words[pick(words.length - 1)] = pick(2 ** 32 - 1) | 0;
    return words;
  },
  function replaceByExtreme(words, _other, pick) {
    words[pick(words.length - 1)] = extremes[pick(extremes.length - 1)]!;
    return words;
  },
  function remove(words, _other, pick) {
    words.splice(pick(words.length - 1), 1 + pick(7));
    return words;
  },
  function repeat(words, _other, pick) {
    const at = pick(words.length - 1);
    return [...words.slice(0, at + 1 + pick(15)), ...words.slice(at)];
  },
  function insert(words, other, pick) {
    const [at, from] = [pick(words.length), pick(other.length)];
    return [...words.slice(0, at), ...other.slice(from, from + 1 + pick(31)), ...words.slice(at)];
  },
  function cross(words, other, pick) {
    return [...words.slice(0, pick(words.length)), ...other.slice(pick(other.length))];
  },
  function endEarly(words, _other, pick) {
    return words.slice(0, pick(words.length));
  },
];

/** @returns a tape with a few random changes. @param other a second tape, parts of which are inserted. */
export function changedTape({ words: given, bias }: Tape, other: Tape, pick: Pick): Tape {
  let words = [...given];
  for (let count = 1 + pick(3); count > 0 && words.length > 0; count--) {
    words = changes[pick(changes.length - 1)]!(words, other.words, pick);
  }
  return { words: words.slice(0, TAPE_WORDS), bias };
}
