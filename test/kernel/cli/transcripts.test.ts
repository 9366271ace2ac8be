import { equal } from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { sluiceIn } from './command.ts';

/**
 * What an operator sees: the first line of a file is the command, the rest all that it prints. `UPDATE=1` writes the
 * files anew.
 */
describe('a transcript of check', () => {
  for (const path of globSync(join(import.meta.dirname, 'transcripts/*.txt')).sort()) {
    it(`equals the printed output: ${basename(path, '.txt')}`, async () => {
      const written = readFileSync(path, 'utf8');
      const [command = ''] = written.split('\n', 1);
      const { out, err } = await sluiceIn({ NO_COLOR: '1' }, ...command.replace(/^\$ sluice /, '').split(' '));
      const printed = `${command}\n${out}${err}`;
      if (process.env.UPDATE) writeFileSync(path, printed);
      equal(process.env.UPDATE ? readFileSync(path, 'utf8') : written, printed);
    });
  }
});
