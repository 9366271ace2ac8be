import { equal, ok } from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { PICTURE, picture } from '../../scripts/docs/house.ts';

const page = readFileSync('CONTRIBUTING.md', 'utf8');

describe('CONTRIBUTING.md', () => {
  it('has a picture of the folders (rooms) that matches the imports', () => {
    ok(page.includes(`](${PICTURE})`));
    equal(readFileSync(PICTURE, 'utf8'), picture(), 'run node scripts/docs/house.ts');
  });

  it('names only files and folders that exist', () => {
    const made = /^dist\b/;
    for (const [, path] of page.matchAll(/`((?:admin|kernel|plugins|samples|scripts|test)\/[\w./-]+)`/g)) {
      ok(made.test(path!) || existsSync(path!), `${path} does not exist`);
    }
  });

  it('describes every folder (room) of the kernel', () => {
    const rooms = readdirSync('kernel', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of rooms) ok(page.includes(`\`kernel/${name}\``), `kernel/${name} is not described`);
  });

  it('has ten tasks with their files', () => {
    const tasks = page.slice(page.indexOf('## Ten tasks')).matchAll(/^\| Add .+ \| (`.+) \|$/gm);
    equal([...tasks].length, 10);
  });
});
