import { joinPointer, mayHoldSecret } from '../../config/index.ts';
import type { ExpectedHeaders } from '../schema.ts';
import type { Failure } from '../test.ts';
import { compilePattern } from './pattern.ts';

/** All values of each header, by lower-case name. */
type Headers = ReadonlyMap<string, readonly string[]>;

/** Compiles expected headers. @param pointer of the expectations. @throws ConfigError for an invalid expression. */
export function headerChecks(expected: ExpectedHeaders, pointer: string): (headers: Headers) => Failure[] {
  const checks = Object.entries(expected).map(([name, value]) => headerCheck(name, value, joinPointer(pointer, name)));
  return (headers) => checks.flatMap((check) => check(headers) ?? []);
}

function headerCheck(
  name: string,
  expected: ExpectedHeaders[string],
  pointer: string,
): (headers: Headers) => Failure | null {
  const valuesOf = (headers: Headers) => headers.get(name.toLowerCase()) ?? [];
  if (typeof expected === 'object' && 'absent' in expected && expected.absent !== undefined) {
    const { absent } = expected;
    return (headers) => {
      const values = valuesOf(headers);
      if (absent === (values.length === 0)) return null;
      const message = absent ? `header ${name} must be absent` : `header ${name} is missing`;
      return { pointer, message, lines: shown(name, '+', values) };
    };
  }
  if (typeof expected === 'object' && 'matches' in expected && expected.matches !== undefined) {
    const { matches } = expected;
    const pattern = compilePattern(matches, joinPointer(pointer, 'matches'));
    return (headers) => {
      const values = valuesOf(headers);
      if (values.some((value) => pattern.test(value))) return null;
      const message = values.length === 0 ? `header ${name} is missing` : `header ${name} does not match ${matches}`;
      return { pointer, message, lines: shown(name, '+', values) };
    };
  }
  const wanted = typeof expected === 'string' ? [expected] : (expected as readonly string[]);
  return (headers) => {
    const values = valuesOf(headers);
    if (values.length === wanted.length && wanted.every((value, at) => value === values[at])) return null;
    const message = values.length === 0 ? `header ${name} is missing` : `header ${name} differs`;
    const [only = { absent: true }, ...others] = values;
    const actual = others.length > 0 ? [...values] : only;
    return { pointer, message, lines: [...shown(name, '-', wanted), ...shown(name, '+', values)], actual };
  };
}

function shown(name: string, sign: string, values: readonly string[]): string[] {
  return values.map((value) => `${sign} ${name}: ${mayHoldSecret(name) ? '***' : value}`);
}
