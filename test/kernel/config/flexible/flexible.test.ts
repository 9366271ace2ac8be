// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { ConfigError } from '#contract';
import { showRendering } from '../../../../kernel/cli/formats/rendering.ts';
import {
  issueLine,
  maskSecrets,
  PositionedError,
  readDocument,
  toIssues,
  UnreadableError,
} from '../../../../kernel/config/index.ts';
import { ConfigErrors } from '../../../../kernel/contract/internal.ts';

const home = process.cwd();
const started = { ...process.env };
let folder: string;

function write(name: string, content: unknown): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return name;
}

/** The data that results from a file. */
async function dataOf(file: string): Promise<unknown> {
  return (await readDocument(file)).data;
}

/** Every error of a file, as `file:line:column: message`. */
async function issues(file: string): Promise<string[]> {
  try {
    await readDocument(file);
  } catch (error) {
    if (error instanceof ConfigErrors) return error.errors.map(({ message }) => message);
    throw error;
  }
  return [];
}

describe('flexible configuration', () => {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-flexible-'));
    process.chdir(folder);
  });

  afterEach(() => {
    process.chdir(home);
    for (const name of Object.keys(process.env)) if (!(name in started)) delete process.env[name];
    rmSync(folder, { recursive: true });
  });

  describe('with the simple engine', () => {
    beforeEach(() => {
      process.env.FC_ENABLE = '1';
    });

    it('renders a template', async () => {
      deepEqual(await dataOf(write('a.tmpl', '{"version": {{add 2 1}}}')), { version: 3 });
    });

    it('renders templates with any value of FC_ENABLE, and none without it', async () => {
      process.env.FC_ENABLE = '0';
      deepEqual(await dataOf(write('a.json', '{"version": {{add 2 1}}}')), { version: 3 });
      process.env.FC_ENABLE = '';
      match((await issues('a.json'))[0]!, /templates are not rendered/);
    });

    it('provides each settings file as a variable', async () => {
      process.env.FC_SETTINGS = 'settings';
      write('settings/urls.json', '{"a":"http://x"}');
      write('settings/deep/ignored.json', '{"a":1}');
      write('settings/ignored.yaml', 'a: 1');
      const file = write('a.json', '{"a":"{{ .urls.a }}","m":{{ marshal .urls }},"n":"{{ .ignored }}"}');
      deepEqual(await dataOf(file), { a: 'http://x', m: { a: 'http://x' }, n: '<no value>' });
    });

    it('renders a list with commas between its items', async () => {
      const file = write('a.json', '{"e":[{{range $i, $v := list "a" "b"}}{{if $i}},{{end}}"{{$v}}"{{end}}]}');
      deepEqual(await dataOf(file), { e: ['a', 'b'] });
    });

    it('includes partials unchanged, also from subfolders', async () => {
      process.env.FC_PARTIALS = 'partials';
      write('partials/deep/p.txt', '{{ not rendered }}"');
      deepEqual(await dataOf(write('a.json', '{"a":"{{ include "deep/p.txt" }}}')), { a: '{{ not rendered }}' });
    });

    it('rejects a missing partial with file and line', async () => {
      process.env.FC_PARTIALS = 'partials';
      mkdirSync(join(folder, 'partials'));
      deepEqual(await issues(write('a.json', '{\n  "a": {{ include "none.json" }}\n}')), [
        'a.json:2:11: cannot include partials/none.json: no such file',
      ]);
    });

    it('calls templates by name', async () => {
      process.env.FC_TEMPLATES = 'templates';
      write('templates/item.tmpl', '{"v": {{ . }}}');
      deepEqual(await dataOf(write('a.json', '{"i": {{ template "item.tmpl" 5 }}}')), { i: { v: 5 } });
    });

    it('rejects fields of a missing key, and unknown templates', async () => {
      deepEqual(await issues(write('a.json', '{"a": "{{ .a.b }}"}')), [
        'a.json:1:11: cannot read the field "b" of "a", which has no value',
      ]);
      deepEqual(await issues(write('a.json', '{\n{{ template "none" }}}')), [
        'a.json:2:1: template "none" does not exist',
      ]);
    });

    it('reports errors of a called template at their place in it, with the calls that led there', async () => {
      process.env.FC_TEMPLATES = 'templates';
      write('templates/t.tmpl', '\n{{ fail "no" }}');
      deepEqual(await issues(write('a.json', '{}{{ template "t.tmpl" }}')), [
        'templates/t.tmpl:2:4: no, called at a.json:1:3',
      ]);
    });

    it('reports errors in the result at the line of the template', async () => {
      const file = write('a.json', '{\n{{ range until 9 }}\n\n{{ end }}\n"a": 1,\n"b" 2\n}');
      match((await issues(file))[0]!, /^a\.json:6:/);
      const document = await readDocument(
        write('b.json', '{{/* one */}}\n{{ "\\n\\n" }}{\n "a": 1,\n "b": {{ quote "x" }} }'),
      );
      const places = ['/a', '/b'].map((pointer) => document.locate(pointer, 'value'));
      deepEqual(places, [
        { line: 3, column: 7, endLine: 3, endColumn: 8 },
        { line: 4, column: 7, endLine: 4, endColumn: 22 },
      ]);
      equal(document.written.startsWith('{{/* one */}}'), true);
    });

    /** Place of the value at a pointer, as `file:line:column`. */
    const placeIn = async (file: string, pointer: string, which: 'key' | 'value' = 'value'): Promise<string> => {
      const { line, column, file: other = file } = (await readDocument(file)).locate(pointer, which)!;
      return `${other}:${line}:${column}`;
    };

    it('reports errors in the output of a called template at their place in it', async () => {
      process.env.FC_TEMPLATES = 'templates';
      write('templates/outer.tmpl', '{\n  "in": {{ template "inner.tmpl" . }} }');
      write('templates/inner.tmpl', '\n\n [1, {{ add 1 1 }}]');
      const file = write(
        'a.json',
        '{"a": {{ template "outer.tmpl" }},\n{{ define "own" }}\n"c": 5{{ end }}{{ template "own" }}}',
      );
      equal(await placeIn(file, '/a/in', 'key'), 'templates/outer.tmpl:2:3');
      equal(await placeIn(file, '/a/in/0'), 'templates/inner.tmpl:3:3');
      equal(await placeIn(file, '/a/in/1'), 'templates/inner.tmpl:3:6');
      equal(await placeIn(file, '/a', 'key'), 'a.json:1:2');
      equal(await placeIn(file, '/c'), 'a.json:3:6');
      const document = await readDocument(file);
      const [issue] = toIssues(document, [new ConfigError('TEST', '/a/in/0', 'is wrong')], 'error');
      equal(issueLine(issue!), 'templates/inner.tmpl:3:3: is wrong (/a/in/0) [TEST]');
    });

    it('reports errors in the content of a partial at their place in it', async () => {
      process.env.FC_PARTIALS = 'partials';
      write('partials/p.json', '{\n  "b": 5\n}');
      const file = write('a.json', '{"a": {{ include "p.json" }}, "c": {{ include "p.json" | trim }}}');
      equal(await placeIn(file, '/a/b'), 'partials/p.json:2:8');
      equal(await placeIn(file, '/a/b', 'key'), 'partials/p.json:2:3');
      equal(await placeIn(file, '/c/b'), 'partials/p.json:2:8');
      write('partials/p.json', '{\n  "b" 5\n}');
      match((await issues(file))[0]!, /^partials\/p\.json:2:/);
    });

    it('reports errors of a settings value at its place in the settings file', async () => {
      process.env.FC_SETTINGS = 'settings';
      write(
        'settings/s.json',
        '{\n "port": 80,\n "hosts": ["http://a",\n  "http://b"],\n "deep": {"er": {"x": true}}\n}',
      );
      const file = write(
        'a.json',
        '{"p": {{ .s.port }}, "h": {{ marshal .s.hosts }}, "t": "{{ index .s.hosts 1 }}", "d": {{ .s.deep | marshal }},' +
          '"l": [{{ range $i, $e := .s.hosts }}{{ if $i }},{{ end }}"{{ $e }}"{{ end }}], "q": "{{ .s.port }}", "m": {{ add .s.port 1 }}}',
      );
      equal(await placeIn(file, '/p'), 'settings/s.json:2:10');
      equal(await placeIn(file, '/q'), 'settings/s.json:2:10');
      equal(await placeIn(file, '/h'), 'settings/s.json:3:11');
      equal(await placeIn(file, '/h/1'), 'settings/s.json:4:3');
      equal(await placeIn(file, '/d/er/x'), 'settings/s.json:5:23');
      equal(await placeIn(file, '/d/er/x', 'key'), 'settings/s.json:5:18');
      // Keys, computed values and values with several sources have their places in the template.
      equal(await placeIn(file, '/p', 'key'), 'a.json:1:2');
      equal(await placeIn(file, '/m'), `a.json:1:${readFileSync(file, 'utf8').indexOf('{{ add') + 1}`);
      equal(await placeIn(file, '/t'), `a.json:1:${readFileSync(file, 'utf8').indexOf('"{{ index') + 1}`);
      equal(await placeIn(file, '/l/1'), `a.json:1:${readFileSync(file, 'utf8').indexOf('"{{ $e') + 1}`);
    });

    it('warns once per settings file with comments, which JSON does not allow', async () => {
      Object.assign(process.env, { FC_SETTINGS: 'settings' });
      write('settings/s.json', '{\n // a\n "a": 1 // b\n}');
      write('settings/t.json', '{"a": "//"}');
      const { warnings } = await readDocument(write('a.json', '{"a": {{ .s.a }} /* c */}'));
      deepEqual(
        warnings.map(({ code, message }) => [code, message.split(': ')[0]]),
        [
          ['CONFIG_COMMENTS', 'a.json:1:18'],
          ['CONFIG_COMMENTS', 'settings/s.json:2:2'],
        ],
      );
    });

    it('rejects unknown formats by name', async () => {
      for (const suffix of ['hcl', 'properties', 'prop', 'props']) {
        deepEqual(await issues(write(`a.${suffix}`, 'port = 8080')), [
          `a.${suffix}:1:1: unknown configuration format ".${suffix}": use .json, .yaml, .yml or .toml`,
        ]);
      }
    });

    it('reports every invalid settings file', async () => {
      process.env.FC_SETTINGS = 'settings';
      write('settings/a.json', '{"a":');
      write('settings/b.json', '[1]');
      write('settings/c.json', '{"a":1,"a":2}');
      const errors = await issues(write('a.json', '{}'));
      equal(errors.length, 3);
      match(errors[0]!, /^loading flexible-config settings: - settings\/a\.json: /);
      equal(errors[1], 'loading flexible-config settings: - settings/b.json: it must contain an object');
      match(errors[2]!, /settings\/c\.json: .*duplicate key 'a'/);
    });

    it('rejects missing directories', async () => {
      process.env.FC_SETTINGS = 'none';
      deepEqual(await issues(write('a.json', '{}')), ['loading flexible-config settings: - none: no such file']);
    });

    it('writes the result to a file that only its owner can read, even if it cannot be parsed', async () => {
      process.env.FC_OUT = 'out.json';
      await dataOf(write('a.json', '{"a": {{ add 1 1 }}}'));
      equal(readFileSync('out.json', 'utf8'), '{"a": 2}');
      equal(statSync('out.json').mode & 0o777, 0o600);
      await rejects(readDocument(write('a.json', '{"a": {{ add 1 1 }}')), UnreadableError);
      equal(readFileSync('out.json', 'utf8'), '{"a": 2');
      process.env.FC_OUT = 'none/out.json';
      match((await issues(write('a.json', '{}')))[0]!, /cannot write none\/out\.json/);
      // The temporary file cannot be removed, either.
      for (const path of ['a.json/out.json', 'x'.repeat(250)]) {
        process.env.FC_OUT = path;
        match((await issues(write('a.json', '{}')))[0]!, new RegExp(`cannot write ${path}: `));
      }
    });

    it('provides environment variables, and masks their values', async () => {
      process.env.TEST_KEY_OF_FLEXIBLE = 'very-long-value';
      const file = write(
        'a.json',
        '{"k":"{{ env "TEST_KEY_OF_FLEXIBLE" }}","n":"{{ env "NOPE_OF_FLEXIBLE" }}","x":"{{ expandenv "is ${TEST_KEY_OF_FLEXIBLE}" }}"}',
      );
      const data = await dataOf(file);
      deepEqual(data, { k: 'very-long-value', n: '', x: 'is very-long-value' });
      deepEqual(maskSecrets(data as never, ''), { k: '***', n: '', x: '***' });
    });

    it('watches everything that it reads, including directories and missing files', async () => {
      Object.assign(process.env, { FC_SETTINGS: 'settings', FC_PARTIALS: 'partials', FC_TEMPLATES: 'templates' });
      write('settings/s.json', '{}');
      write('partials/p.txt', '1');
      write('templates/t.tmpl', '2');
      const reads = new Map<string, unknown>();
      await readDocument(write('a.json', '{"a": {{ include "p.txt" }}}'), (path, content) => reads.set(path, content));
      deepEqual([...reads.keys()].sort(), [
        'a.json',
        'partials',
        'partials/p.txt',
        'settings',
        'settings/s.json',
        'templates',
        'templates/t.tmpl',
      ]);
      deepEqual(reads.get('settings'), ['s.json']);
      await rejects(readDocument(write('a.json', '{{ include "gone" }}'), (path, content) => reads.set(path, content)));
      equal(reads.get('partials/gone'), null);
    });

    it('reads YAML and TOML settings like JSON', async () => {
      deepEqual(await dataOf(write('a.yaml', 'version: {{ add 1 2 }}')), { version: 3 });
      deepEqual(await dataOf(write('a.toml', 'version = {{ add 1 2 }}')), { version: 3 });
    });

    it('stops an endless template', async function () {
      this.timeout(60_000);
      match(
        (await issues(write('a.json', '{{define "a"}}{{template "a"}}{{end}}{{template "a"}}')))[0]!,
        /more than 500 deep/,
      );
    });
  });

  describe('with the extended engine', () => {
    const options = (content: object) => write('flexible_config.json', content);

    it('provides directories and files as keys, and merges a listed file into the root', async () => {
      options({ settings: { paths: ['settings', 'root.yaml'], dir_field_prefix: '' } });
      write('settings/endpoints/A-team/e1.json', { path: '/e1' });
      write('settings/.env', 'TOKEN=abc\nQUOTED="a b" # comment\n');
      write('settings/more/x.properties', 'a.b: c\n! comment\n');
      write('root.yaml', 'port: 8080\nlarge: 1000000\n');
      const file = write(
        'a.json',
        '{"p":"{{ (index .endpoints "A-team").e1.path }}","port":{{ .port }},"large":{{ .large }},"t":"{{ .TOKEN }}{{ .QUOTED }}","x":"{{ index .more.x "a.b" }}"}',
      );
      deepEqual(await dataOf(file), { p: '/e1', port: 8080, large: 1_000_000, t: 'abca b', x: 'c' });
    });

    it('adds a configured prefix to the names of directories', async () => {
      options({ settings: { paths: ['settings'], dir_field_prefix: 'dir_' } });
      write('settings/a/b.json', { c: 1 });
      deepEqual(await dataOf(write('a.json', '{"a":{{ .dir_a.b.c }}}')), { a: 1 });
    });

    it('rejects settings that are set twice, unless allow_overwrite lets later files win', async () => {
      write('one/infra.json', { hosts: ['a'], port: 1 });
      write('two/infra.json', { hosts: ['b'] });
      const file = write('a.json', '{{ marshal .infra }}');
      options({ settings: { paths: ['one', 'two'] } });
      deepEqual(await issues(file), [
        'loading flexible-config settings: - two/infra.json: .infra is already set by one/infra.json: set "allow_overwrite" to use the later value',
      ]);
      options({ settings: { paths: ['one', 'two'], allow_overwrite: true } });
      deepEqual(await dataOf(file), { hosts: ['b'], port: 1 });
    });

    it('rejects a later file that replaces part of a setting, but accepts one that only adds to it', async () => {
      const set = 'set "allow_overwrite" to use the later value';
      write('one/infra/hosts.json', { a: 1 });
      write('two/infra.json', { hosts: { a: 2 } });
      const file = write('a.json', '{{ marshal .infra }}');
      options({ settings: { paths: ['one', 'two'], dir_field_prefix: '' } });
      const refusals = [
        `loading flexible-config settings: - two/infra.json: .infra.hosts is already set by one/infra/hosts.json: ${set}`,
      ];
      deepEqual(await issues(file), refusals);
      write('two/infra.json', { hosts: 'none' });
      deepEqual(await issues(file), refusals);
      write('two/infra.json', { port: 1 });
      deepEqual(await dataOf(file), { hosts: { a: 1 }, port: 1 });
    });

    it('distinguishes a file name with a dot from a file in a directory', async () => {
      write('one/a/b.json', { v: 1 });
      write('two/a.b.json', { v: 2 });
      options({ settings: { paths: ['one', 'two'], dir_field_prefix: '' } });
      deepEqual(await dataOf(write('a.json', '{"v":{{ .a.b.v }},"w":{{ (index . "a.b").v }}}')), { v: 1, w: 2 });
    });

    it('reads only files with the allowed suffixes', async () => {
      options({ settings: { paths: ['s'], allowed_suffixes: ['.json'] }, templates: { undefined_vars: 'zero' } });
      write('s/a.json', { v: 1 });
      write('s/b.yaml', 'v: 2');
      deepEqual(await dataOf(write('a.json', '{"a":{{ .a.v }},"b":"{{ .b }}"}')), { a: 1, b: '<no value>' });
    });

    it('handles an undefined variable as configured', async () => {
      const file = write('a.json', '{"a":"{{ .a.b }}"}');
      options({});
      deepEqual(await issues(file), ['a.json:1:10: unknown field "a"']);
      options({ templates: { undefined_vars: 'zero' } });
      deepEqual(await issues(file), ['a.json:1:10: cannot read the field "b" of "a", which has no value']);
      options({ templates: { undefined_vars: 'invalid' } });
      deepEqual(await dataOf(file), { a: '<no value>' });
    });

    it('rejects unknown options at their place', async () => {
      options({ settings: { path: ['a'] } });
      match((await issues(write('a.json', '{}')))[0]!, /^flexible_config\.json:1:\d+: .*path/);
    });

    it('rejects a missing FC_CONFIG file', async () => {
      process.env.FC_CONFIG = 'none.json';
      deepEqual(await issues(write('a.json', '{}')), ['loading flexible-config settings: - none.json: no such file']);
    });

    it('finds partials and templates in subfolders', async () => {
      options({ partials: { paths: ['p'] }, templates: { paths: ['t'] } });
      write('p/deep/a.txt', '1');
      write('t/deep/b.tmpl', '{{ . }}');
      deepEqual(
        await dataOf(
          write(
            'a.json',
            '[{{ include "deep/a.txt" }}]'.replace(/^\[|\]$/g, '').replace(/^/, '{"a":') +
              ',"b":{{ template "b.tmpl" 2 }}}',
          ),
        ),
        { a: 1, b: 2 },
      );
    });

    it('provides the tree of its files as a variable', async () => {
      options({ settings: { paths: ['s.json'] }, templates: { paths: ['t'] }, meta_key: 'made' });
      write('s.json', { a: 1 });
      write('t/x.tmpl', '1');
      deepEqual(await dataOf(write('a.json', '{"f":{{ marshal .made }}}')), {
        f: {
          files: ['flexible_config.json', 's.json', 't/x.tmpl'],
          settings: ['s.json'],
          templates: ['t/x.tmpl'],
        },
      });
    });

    it('reports errors at the place of a settings value in every format, or at the template if files were merged', async () => {
      options({ settings: { paths: ['one', 'two', 'root.yaml'], allow_overwrite: true } });
      write('one/infra.json', '{"hosts": ["a"],\n"port": 1}');
      write('two/infra.json', '{"hosts": ["b"]}');
      write('one/deep/x.toml', '\nv = 5\n');
      write('root.yaml', 'a: 1\ntop: 7\n');
      write('one/pairs.env', 'K=1');
      const text = '{"v":{{ .deep.x.v }},"t":{{ .top }},"p":{{ .infra.port }},"k":{{ .pairs.K }}}';
      const document = await readDocument(write('a.json', text));
      const placeOf = (pointer: string) => {
        const { file = 'a.json', line, column } = document.locate(pointer, 'value')!;
        return `${file}:${line}:${column}`;
      };
      deepEqual(['/v', '/t', '/p', '/k'].map(placeOf), [
        'one/deep/x.toml:2:5',
        'root.yaml:2:6',
        `a.json:1:${text.indexOf('{{ .infra') + 1}`,
        `a.json:1:${text.indexOf('{{ .pairs') + 1}`,
      ]);
    });

    it('prints its variables, with secrets masked, to the file set by "debug" or FC_DEBUG', async () => {
      const variables = async () => (await readDocument(write('a.json', '{}'))).rendering?.variables;
      write('s.json', { a: 1 });
      options({ settings: { paths: ['s.json'] }, meta_key: '' });
      equal(await variables(), null);
      process.env.FC_DEBUG = 'true';
      deepEqual(await variables(), { a: 1 });
      delete process.env.FC_DEBUG;
      options({ settings: { paths: ['s.json'] }, meta_key: '', debug: true });
      deepEqual(await variables(), { a: 1 });
      const { rendering } = await readDocument('a.json');
      match(
        showRendering(rendering),
        /^Rendered with flexible_config\.json, s\.json\nVariables: \{\n {2}"a": 1\n\}\n$/,
      );
      const secret = { ...rendering!, variables: { password: 'of-the-test', n: 5n as never } };
      equal(showRendering(secret).includes('of-the-test'), false);
      match(showRendering(secret), /"n": 5/);
    });

    it('rejects names of keys that the naming rules do not allow', async () => {
      options({ settings: { paths: ['s'] }, keys_naming_rules: 'strict' });
      write('s/a-b.json', { a: 1 });
      match((await issues(write('a.json', '{}')))[0]!, /"a-b" is not alphanumeric/);
    });

    it('does not apply the naming rules to directories', async () => {
      options({ settings: { paths: ['s'] }, keys_naming_rules: 'strict' });
      write('s/A-team/e1.json', { a: 1 });
      deepEqual(await dataOf(write('a.json', '{"a":{{ (index . "A-team").e1.a }}}')), { a: 1 });
    });

    it('calls templates with any file extension', async () => {
      options({ templates: { paths: ['t'] } });
      write('t/deep/part.json', '{"v":{{ . }}}');
      deepEqual(
        await dataOf(write('a.json', '{"a":{{ template "part.json" 2 }},"b":{{ template "deep/part.json" 3 }}}')),
        {
          a: { v: 2 },
          b: { v: 3 },
        },
      );
    });

    it('resolves a path relative to its file, and otherwise to the working directory', async () => {
      options({});
      write('x/one/a.json', '{"b":{"$ref":"../two/b.json"},"here":{"$ref":"./top.json"}}');
      write('x/two/b.json', '{"c":{"$ref":"c.json"}}');
      write('x/two/c.json', '{"v":1}');
      write('c.json', '{"v":2}');
      write('top.json', '{"v":3}');
      const file = write('x/main.json', '{"a":{"$ref":"./one/a.json"}}');
      const reads = new Map<string, unknown>();
      const { data } = await readDocument(file, (path, content) => reads.set(path, content));
      deepEqual(data, { a: { b: { c: { v: 1 } }, here: { v: 3 } } });
      equal(reads.get('x/one/top.json'), null);
    });

    it('renders an included template among the settings, and rejects one used as a variable', async () => {
      options({ settings: { paths: ['s'] } });
      write('s/n.json', { v: 7 });
      write('s/extra.json', '{"port":{{ .n.v }}}');
      deepEqual(await dataOf(write('a.json', '{"extra":{"$ref":"./s/extra.json"}}')), { extra: { port: 7 } });
      match((await issues(write('a.json', '{"v":{{ .n.v }}}')))[0]!, /s\/extra\.json: .*templates are not rendered/);
      await rejects(readDocument(write('a.json', '{"v":{{ .extra.port }}}')), (error: UnreadableError) => {
        match(String(error.errors[0]!.hint), /^the variables do not contain s\/extra\.json: /);
        return true;
      });
    });

    it('replaces an object with $ref by the content of the file, merged with its sibling keys', async () => {
      options({ settings: { paths: ['s.json'] } });
      write('s.json', { v: 7 });
      write('service/x.json', '{"a":{{ .v }},"b":{"$ref":"service/y.yaml"}}');
      write('service/y.yaml', 'deep: true\n');
      const file = write(
        'a.json',
        '{"extra":{"$ref":"service/x.json","a":8},"schema":{"$ref":"#/definitions/y"},"web":{"$ref":"http://x/y"}}',
      );
      deepEqual(await dataOf(file), {
        extra: { a: 8, b: { deep: true } },
        schema: { $ref: '#/definitions/y' },
        web: { $ref: 'http://x/y' },
      });
      const document = await readDocument(file);
      deepEqual(JSON.parse(document.text), document.data);
      equal(document.locate('/extra/b/deep', 'value')?.line, 1);
    });

    it('includes files by another key than $ref if configured', async () => {
      options({ ref_key: '@file' });
      write('x.json', '{"a":1}');
      deepEqual(await dataOf(write('a.json', '{"a":{"@file":"x.json"},"b":{"$ref":"x.json"}}')), {
        a: { a: 1 },
        b: { $ref: 'x.json' },
      });
    });

    it('rejects circular and missing includes at their places', async () => {
      options({});
      write('x.json', '{"a":{"$ref":"y.json"}}');
      write('y.json', '{"a":{"$ref":"x.json"}}');
      deepEqual(await issues(write('a.json', '{\n"a":{"$ref":"x.json"},\n"b":{"$ref":"none.json"}}')), [
        'a.json:2:5: circular includes: x.json > y.json > x.json',
        'a.json:3:13: no such file',
      ]);
    });

    it('reports errors in an included file at their place in it', async () => {
      options({});
      write('x.json', '{\n"a": }');
      match((await issues(write('a.json', '{"a":{"$ref":"x.json"}}')))[0]!, /^x\.json:2:6: /);
    });

    it('handles keys with the names of Object.prototype members as data', async () => {
      options({ settings: { paths: ['s'] } });
      write('s/__proto__.json', '{"polluted":true}');
      write('s/a.json', '{"__proto__":{"polluted":true}}');
      write('x.json', '{"__proto__":{"polluted":true}}');
      const data = (await dataOf(write('a.json', '{"a":{"$ref":"x.json","b":1}}'))) as Record<string, unknown>;
      equal(({} as Record<string, unknown>).polluted, undefined);
      equal((data.a as Record<string, unknown>).polluted, undefined);
    });
  });

  describe('with interpolated environment variables', () => {
    beforeEach(() => {
      Object.assign(process.env, {
        GATEWAY_ENV_INTERPOLATION: '1',
        TEST_HOST_OF_FLEXIBLE: 'http://x',
        TEST_NUMBER_OF_FLEXIBLE: '9007199254740993',
      });
    });

    it('replaces values, but never keys', async () => {
      write('secret', 'top-secret\n');
      const file = write(
        'a.json',
        JSON.stringify({
          '${TEST_HOST_OF_FLEXIBLE}': '${TEST_HOST_OF_FLEXIBLE}/a',
          d: '${NONE_OF_FLEXIBLE:-default}',
          l: '$${TEST_HOST_OF_FLEXIBLE}',
          n: '${TEST_NUMBER_OF_FLEXIBLE}!int',
          p: '${NONE_OF_FLEXIBLE:-8080}!int',
          b: '${NONE_OF_FLEXIBLE:-true}!bool',
          f: '${file:secret}',
          o: '$1 ${1} $X',
        }),
      );
      const data = (await dataOf(file)) as Record<string, unknown>;
      deepEqual(JSON.parse(JSON.stringify({ ...data, n: String((data.n as { rawJSON: string }).rawJSON) })), {
        '${TEST_HOST_OF_FLEXIBLE}': 'http://x/a',
        d: 'default',
        l: '${TEST_HOST_OF_FLEXIBLE}',
        n: '9007199254740993',
        p: 8080,
        b: true,
        f: 'top-secret',
        o: '$1 ${1} $X',
      });
    });

    it('leaves references to stores of secrets, and their escapes, to the later stage', async () => {
      const data = {
        a: '${vault:kv/x#k}',
        b: '$${vault:kv/x#k}',
        c: '${file:secret#k}',
        d: '$${file:secret}',
        e: '${vault:kv/x#n}!int',
      };
      deepEqual(await dataOf(write('a.json', JSON.stringify(data))), data);
    });

    it('reports every variable that is unset or invalid, with its place', async () => {
      const file = write(
        'a.json',
        '{\n"a":"${NONE_OF_FLEXIBLE}",\n"b":"${NONE_OF_FLEXIBLE:?give it}",\n"c":"${TEST_HOST_OF_FLEXIBLE}!int",\n"d":"${file:none}"}',
      );
      deepEqual(await issues(file), [
        'a.json:2:5: the environment variable NONE_OF_FLEXIBLE is not set',
        'a.json:3:5: NONE_OF_FLEXIBLE: give it',
        'a.json:4:5: it cannot be read as an integer',
        'a.json:5:5: no such file',
      ]);
    });

    it('is disabled by default', async () => {
      process.env.GATEWAY_ENV_INTERPOLATION = '0';
      deepEqual(await dataOf(write('a.json', '{"a":"${TEST_HOST_OF_FLEXIBLE}"}')), { a: '${TEST_HOST_OF_FLEXIBLE}' });
    });

    it('watches the files that it reads', async () => {
      write('secret', 'x');
      const reads: string[] = [];
      await readDocument(write('a.json', '{"a":"${file:secret}"}'), (path) => reads.push(resolve(path)));
      deepEqual(
        reads,
        ['a.json', 'secret'].map((name) => resolve(name)),
      );
    });

    it('keeps the places of values that it replaced', async () => {
      const document = await readDocument(write('a.json', '{\n"a": {"b": "${TEST_HOST_OF_FLEXIBLE}"}}'));
      const error = new PositionedError('X', '/a/b', 'x', { file: 'a.json' });
      equal(document.locate('/a/b', 'value')?.line, 2);
      equal(toIssues(document, [error], 'error').length, 1);
    });
  });
});
