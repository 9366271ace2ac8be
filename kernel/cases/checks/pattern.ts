import { ConfigError, type Pattern, type Patterns } from '#contract';
import { PatternError } from '../../contract/internal.ts';
import { createPatterns } from '../../patterns/patterns.ts';

let patterns: Patterns | null = null;

/** Compiles an expression of a test, in RE2 syntax and linear time. @throws ConfigError TEST_PATTERN. */
export function compilePattern(source: string, pointer: string): Pattern {
  patterns ??= createPatterns();
  try {
    return patterns.compile(source);
  } catch (cause) {
    if (!(cause instanceof PatternError)) throw cause;
    const { message, hint } = cause;
    throw new ConfigError('TEST_PATTERN', pointer, `'${source.slice(0, 100)}' ${message}`, { cause, hint });
  }
}
