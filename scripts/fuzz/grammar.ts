import fc from 'fast-check';

/** Unusual texts: empty, long, deeply nested, of other alphabets, names of the prototype. */
export const oddTexts = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom(
    '',
    '__proto__',
    'constructor',
    'toString',
    '\0',
    '\ud800',
    '\u2028',
    '%',
    '..',
    '{{',
    '}}',
    '$A',
    '𝒳',
  ),
  fc.nat({ max: 16 }).map((length) => 'a'.repeat(2 ** length)),
);

/** Numbers at the limits of their types. */
export const oddNumbers = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 1e21, 2 ** 31, 2 ** 53 + 2, -1, 0.1, Number.MAX_VALUE, Number.MIN_VALUE),
);

/** Plain data as in a backend's response. */
export const data = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.constantFrom(null, true, false), oddNumbers, oddTexts),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.oneof(fc.constantFrom('a', 'b', 'id', 'items'), oddTexts), tie('value'), { maxKeys: 5 }),
  ),
})).value;

/** Programs of a grammar: each `#` in a form is replaced by another program. @param leaves terminal programs. */
export function programs(leaves: readonly string[], forms: readonly string[], maxDepth = 5): fc.Arbitrary<string> {
  const leaf = fc.constantFrom(...leaves);
  return fc.letrec<{ program: string }>((tie) => ({
    program: fc.oneof(
      { maxDepth, depthSize: 'small', withCrossShrink: true },
      leaf,
      ...forms.map((form) => {
        const parts = form.split('#');
        return fc
          .tuple(...parts.slice(1).map(() => tie('program')))
          .map((inner) => parts.map((part, at) => part + (inner[at] ?? '')).join(''));
      }),
    ),
  })).program;
}

/** A program with a few bytes changed: most are rejected, which must work correctly too. */
export function damaged(whole: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const cut = fc.tuple(whole, fc.nat(), fc.nat({ max: 3 }), oddTexts).map(([text, at, length, put]) => {
    const start = text.length === 0 ? 0 : at % text.length;
    return text.slice(0, start) + put.slice(0, 64) + text.slice(start + length);
  });
  return fc.oneof({ weight: 3, arbitrary: whole }, { weight: 1, arbitrary: cut });
}
