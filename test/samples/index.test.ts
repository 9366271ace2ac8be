import { deepEqual, ok } from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { catalogue } from '../../plugins/index.ts';

describe('the index of samples', () => {
  it('has one row for every sample', () => {
    const rows = readFileSync('samples/README.md', 'utf8').matchAll(/^\| .+ \| \[.+\]\((\S+)\/README\.md\) \|$/gm);
    const folders = readdirSync('samples', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    deepEqual(Array.from(rows, ([, name]) => name!).sort(), folders.map(({ name }) => name).sort());
  });

  for (const file of [
    ...globSync('samples/**/*.md', { exclude: ['**/node_modules/**'] }),
    'README.md',
    'CONTRIBUTING.md',
  ]) {
    it(`leads to ${file}, whose links and headings exist`, () => {
      const text = readFileSync(file, 'utf8');
      for (const [, link] of text.matchAll(/\]\(([^)\s]+)\)|^\[[\w ]+\]: (\S+)$/gm)) {
        if (!link || /^https?:/.test(link)) continue;
        const [path, anchor] = link.split('#');
        const target = path === '' ? file : join(dirname(file), path!);
        ok(existsSync(target), `${link} does not exist`);
        if (anchor) ok(anchorsOf(target).includes(anchor), `${link} has no such heading`);
      }
    });
  }
});

describe('the configurations of the samples', () => {
  /** Components that are not written under their name, with the fields that show them. */
  const written: Readonly<Record<string, string>> = {
    'auth/jose': '"shared_cache_duration":',
    'auth/revoker/server': '"revoke_server_ping_url":',
    'discovery/dns': '"sd": "dns"',
    'discovery/dns-shared': '"sd": "dns-shared"',
    'discovery/static': '"sd": "static"',
    'server/debug': '"debug_endpoint": true',
    'server/echo': '"echo_endpoint": true',
  };
  /** Components that are used without being written: paths that guides request, and the default encoding. */
  const unwritten = ['encoding/json', 'server/health', 'server/ready'];

  it('contain every component of the release', () => {
    const files = globSync('samples/**/*.{json,yaml,toml,tmpl}', { exclude: ['**/node_modules/**'] });
    const texts = files.map((file) => readFileSync(file, 'utf8')).join('\n');
    const isShown = (name: string) =>
      [`"${name.replace(/^encoding\//, '')}"`, `${name}:`].some((form) => texts.includes(written[name] ?? form));
    const missing = Object.keys(catalogue.plugins).filter((name) => !isShown(name) && !unwritten.includes(name));
    deepEqual(missing, []);
  });
});

describe('the README', () => {
  it('has at most 150 lines of 100 characters', () => {
    const lines = readFileSync('README.md', 'utf8').trimEnd().split('\n');
    ok(lines.length <= 150, `${lines.length} lines`);
    deepEqual(
      lines.filter((line) => [...line].length > 100),
      [],
    );
  });
});

/** Anchors of the headings of a Markdown file. */
function anchorsOf(file: string): string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm);
  return Array.from(headings, ([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
