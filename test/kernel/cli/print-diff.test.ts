import { equal } from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { printDiff } from '../../../kernel/cli/formats/print-diff.ts';
import { diffConfigs } from '../../../kernel/config/index.ts';
import { normalize } from '../../support/known.ts';

describe('a printed diff', () => {
  const printed = (isTTY: boolean, env: NodeJS.ProcessEnv = {}): string => {
    const stdout = Object.assign(new PassThrough(), { isTTY });
    const [from, to] = [{ version: 3 }, { version: 3, name: 'x' }].map((data) => normalize(data).config);
    printDiff({ stdout, stderr: new PassThrough(), env }, diffConfigs(from!, to!));
    return String(stdout.read());
  };

  it('has colored headings on a terminal', () => {
    equal(printed(true), '\x1b[33m~ service\x1b[0m\n    name: "" → "x"\n');
  });

  it('has no color elsewhere', () => {
    equal(printed(false), '~ service\n    name: "" → "x"\n');
  });

  it('has no color if NO_COLOR is set', () => {
    equal(printed(true, { NO_COLOR: '1' }), '~ service\n    name: "" → "x"\n');
  });
});
