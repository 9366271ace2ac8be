import type { Pattern, Patterns } from '#contract';
import { PatternError } from '../contract/internal.ts';
import { CompiledPattern } from './compiled-pattern.ts';
import { compileProgram } from './engine.ts';
import { patternError } from './pattern-error.ts';

/** Maximum length of an expression, in UTF-16 units, and maximum size of its program, in steps. */
const SIZE_LIMIT = 16 * 1024;

/** Number of cached expressions, for reuse at other endpoints or in the next configuration. */
const KEPT = 500;

/** Compiles regular expressions and caches the most recently used ones. */
export function createPatterns(): Patterns {
  const kept = new Map<string, Pattern>();
  return {
    compile(source) {
      const pattern = kept.get(source) ?? compilePattern(source);
      kept.delete(source);
      kept.set(source, pattern);
      if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
      return pattern;
    },
  };
}

function compilePattern(source: string): Pattern {
  if (source.length > SIZE_LIMIT) {
    throw new PatternError(`has ${source.length} characters: at most ${SIZE_LIMIT} are supported`);
  }
  let program: ReturnType<typeof compileProgram>;
  try {
    program = compileProgram(source);
  } catch (error) {
    throw patternError(source, error);
  }
  const size = program.programSize();
  if (size <= SIZE_LIMIT) return new CompiledPattern(source, program);
  throw new PatternError(`compiles to ${size} instructions: at most ${SIZE_LIMIT} are supported`, {
    hint: 'use smaller numbers in { }',
  });
}
