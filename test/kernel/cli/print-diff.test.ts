import { equal } from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { printDiff } from '../../../kernel/cli/print-diff.ts';
import { diffConfigs, normalize } from '../../../kernel/config/index.ts';

describe('a printed difference', () => {
  const noColour = process.env.NO_COLOR;
  beforeEach(() => {
    delete process.env.NO_COLOR;
  });
  afterEach(() => {
    if (noColour !== undefined) process.env.NO_COLOR = noColour;
  });

  const printed = (isTTY: boolean): string => {
    const stream = Object.assign(new PassThrough(), { isTTY });
    const [from, to] = [{ version: 3 }, { version: 3, name: 'x' }].map((data) => normalize(data).config);
    printDiff(stream, diffConfigs(from!, to!), from!, to!);
    return String(stream.read());
  };

  it('has coloured headlines on a terminal', () => {
    equal(printed(true), '\x1b[33m~ service\x1b[0m\n    name: "" → "x"\n');
  });

  it('has no colour elsewhere', () => {
    equal(printed(false), '~ service\n    name: "" → "x"\n');
  });

  it('has no colour where the environment wants none', () => {
    process.env.NO_COLOR = '1';
    equal(printed(true), '~ service\n    name: "" → "x"\n');
    delete process.env.NO_COLOR;
  });
});
