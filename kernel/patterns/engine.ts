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
  return loadEngine().RE2JS.compile(source);
}
