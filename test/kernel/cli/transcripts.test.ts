import { equal } from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { sluiceIn } from './command.ts';

/**
 * Terminal transcripts: the first line of a file is the command, the rest is its output. `UPDATE=1` rewrites the files.
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
