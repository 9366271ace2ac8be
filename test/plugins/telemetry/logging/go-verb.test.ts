import { equal } from 'node:assert/strict';
import { compileVerb } from '../../../../plugins/telemetry/logging/go-verb.ts';

describe('a Go format verb', () => {
  for (const [format, value, text] of [
    ['.6s', 'WARNING', 'WARNIN'],
    ['.2s', '😀😀😀', '😀😀'],
    ['8s', 'INFO', '    INFO'],
    ['-8s|', 'INFO', 'INFO    |'],
    ['03x', 10, '00a'],
    ['X', 255, 'FF'],
    ['05d', -7, '-0007'],
    ['+d', 7, '+7'],
    ['d', 1.6, '2'],
    ['.1f', 12.34, '12.3'],
    ['.0fms', 12.5, '13ms'],
    ['e', 1200, '1.200000e+03'],
    ['q', 'a"b', '"a\\"b"'],
    ['v', 7, '7'],
  ] as const) {
    it(`prints ${value} as ${text} under ${format}`, () => equal(compileVerb(format)!(value), text));
  }

  it('is not compiled if it is unknown', () => {
    equal(compileVerb('wide'), undefined);
    equal(compileVerb(''), undefined);
  });
});
