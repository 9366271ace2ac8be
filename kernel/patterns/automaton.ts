import type { RE2JS } from 're2js';

/**
 * Memory in which an expression keeps the states it learns of texts, in bytes: with too little of it, lists of words
 * are slow.
 */
const LEARNED_BYTES = 256 * 1024;
const LEARNED_BYTES_A_STEP = 2048;

/** Characters that pay for one learned state. */
const CHARACTERS_A_STATE = 10;

/**
 * The engine's fast way: an automaton that learns its states from the texts it reads, and forgets them when its memory
 * is full. An expression that learns a new state from nearly every character is read ten times faster without it.
 */
export class Automaton {
  readonly #states: ReturnType<RE2JS['re2']>['dfa'];
  /** Read since the states were forgotten. */
  #characters = 0;

  constructor(program: RE2JS) {
    const { dfa } = program.re2();
    const bytes = Math.min(dfa.maxMem, Math.max(LEARNED_BYTES, program.programSize() * LEARNED_BYTES_A_STEP));
    dfa.stateBudget = bytes;
    dfa.memBudget = bytes;
    this.#states = dfa;
  }

  /** Lets a text be read, and stops learning when that is in vain. */
  read<T>(length: number, search: () => T): T {
    const { memBudget: left, stateCount } = this.#states;
    const found = search();
    this.#characters += length;
    if (this.#states.memBudget > left) this.#forgot(stateCount);
    return found;
  }

  #forgot(states: number): void {
    if (this.#characters < states * CHARACTERS_A_STATE) {
      this.#states.failed = true;
      this.#states.clearCache();
    }
    this.#characters = 0;
  }
}
