import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

let engine: typeof import('re2js') | undefined;

/** Loads the engine when the first expression is compiled, so that configurations without expressions do not wait for it. */
export function loadEngine(): typeof import('re2js') {
  engine ??= createRequire(import.meta.url)('re2js') as typeof import('re2js');
  return engine;
}

/** Compiles an expression. @throws RE2JSSyntaxException. */
export function compileProgram(source: string): RE2JS {
  const program = loadEngine().RE2JS.compile(source);
  const { dfa } = program.re2();
  const bytes = Math.min(dfa.maxMem, Math.max(LEARNED_BYTES, program.programSize() * LEARNED_BYTES_A_STEP));
  dfa.stateBudget = bytes;
  dfa.memBudget = bytes;
  return program;
}

/**
 * Limit of the states that the engine caches for an expression, in bytes. A smaller cache makes word lists slow; a
 * larger one would not help expressions that add states for every text, which fill a cache of any size.
 */
const LEARNED_BYTES = 256 * 1024;
const LEARNED_BYTES_A_STEP = 2048;
