import fc from 'fast-check';
import { BlockCoverage, type Taken } from './block-coverage.ts';
import { changedTape, type Pick, TAPE_WORDS, type Tape, TapePlayer } from './tape.ts';

/** Maximum number of tapes (the random numbers from which an input is generated) that are kept. */
const KEPT_TAPES = 1_000;
/** Maximum number of random numbers on all kept tapes together. */
const KEPT_WORDS = 1_000_000;
/** The coverage is measured once the inputs since the last measurement took this many times as long as that measurement. */
const WORK_PER_MEASUREMENT = 4;
/** Maximum number of inputs that are measured together. */
const GROUP = 256;

/**
 * Generates inputs that reach new blocks of the code under test. Tapes of inputs that did are kept, and half of the
 * inputs are generated from changed ones. A measurement takes as long as many inputs, so it covers a group of them,
 * which doubles while nothing new is reached. A group that reaches new blocks is repeated in halves, until the inputs
 * that do are found.
 */
export class Guide<I> extends fc.Arbitrary<I> {
  readonly coverage: BlockCoverage;
  readonly #inputs: fc.Arbitrary<I>;
  readonly #kept: Tape[] = [];
  #keptWords = 0;
  /** Groups to repeat. */
  readonly #repeats: Tape[][] = [];
  /** Tapes of the current group that are not generated yet; null for a group of new inputs. */
  #planned: Tape[] | null = null;
  #group: Tape[] = [];
  /** Number of inputs in the next groups. */
  #size = 1;
  /**
   * Blocks that repeated groups have executed, but no single input so far. Once all inputs have been repeated, these
   * blocks count as reached.
   */
  readonly #unassigned: Taken[] = [];
  #measuredAt = performance.now();
  #measurementMs = 0;

  constructor(inputs: fc.Arbitrary<I>, rooms: readonly string[]) {
    super();
    this.#inputs = inputs;
    this.coverage = new BlockCoverage(rooms);
  }

  /** Number of inputs that are kept. */
  get kept(): number {
    return this.#kept.length;
  }

  override generate(random: fc.Random, bias: number | undefined): fc.Value<I> {
    const tape = this.#planned?.shift() ?? this.#tape((max) => random.nextInt(0, max), bias);
    const player = new TapePlayer(tape.words, () => random.nextInt());
    const value = this.#inputs.generate(new fc.Random(player), tape.bias);
    this.#group.push({ words: player.played, bias: tape.bias });
    return value;
  }

  override canShrinkWithoutContext(value: unknown): value is I {
    return this.#inputs.canShrinkWithoutContext(value);
  }

  override shrink(value: I, context: unknown): fc.Stream<fc.Value<I>> {
    return this.#inputs.shrink(value, context);
  }

  /** Call after each executed input. Measures the coverage of the current group of inputs if the group is complete. */
  executed(): void {
    if (this.#planned ? this.#planned.length > 0 : !this.#isDue()) return;
    const since = performance.now();
    const taken = this.coverage.take();
    if (this.coverage.isNew(taken)) this.#reached(taken);
    else if (!this.#planned) this.#size = Math.min(GROUP, this.#size * 2);
    this.#planned = this.#repeats.pop() ?? null;
    if (!this.#planned) for (const each of this.#unassigned.splice(0)) this.coverage.add(each);
    this.#group = [];
    this.#measuredAt = performance.now();
    this.#measurementMs = this.#measuredAt - since;
  }

  #isDue(): boolean {
    const ms = performance.now() - this.#measuredAt;
    return this.#group.length >= this.#size || ms > WORK_PER_MEASUREMENT * this.#measurementMs;
  }

  #reached(taken: Taken): void {
    const half = this.#group.length >> 1;
    this.#size = Math.max(1, this.#size >> 2);
    if (half > 0) {
      this.#unassigned.push(taken);
      this.#repeats.push(this.#group.slice(half), this.#group.slice(0, half));
      return;
    }
    this.coverage.add(taken);
    const [tape] = this.#group;
    if (tape && tape.words.length <= TAPE_WORDS) this.#keep(tape);
  }

  #keep(tape: Tape): void {
    this.#kept.push(tape);
    this.#keptWords += tape.words.length;
    while (this.#kept.length > KEPT_TAPES || this.#keptWords > KEPT_WORDS)
      this.#keptWords -= this.#kept.shift()!.words.length;
  }

  /** Returns a new tape for one half of the inputs, and a changed one for the other half. */
  #tape(pick: Pick, bias: number | undefined): Tape {
    if (this.#kept.length === 0 || pick(1) === 0) return { words: [], bias };
    const any = (): Tape => this.#kept[pick(this.#kept.length - 1)]!;
    return changedTape(any(), any(), pick);
  }
}
