import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

let engine: typeof import('re2js') | undefined;

/** The engine, loaded when the first expression is compiled: a configuration without any does not wait for it. */
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
 * Memory in which an expression keeps what it learns of texts: with too little of it, lists of words are slow; some
 * expressions learn something new from every text, and fill all there is, in vain, for each.
 */
const LEARNED_BYTES = 256 * 1024;
const LEARNED_BYTES_A_STEP = 2048;
