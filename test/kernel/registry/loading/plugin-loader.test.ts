import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PositionedError } from '../../../../kernel/config/index.ts';
import type { ConfigError } from '../../../../kernel/contract/index.ts';
import { instanceParts } from '../../../../kernel/registry/loading/instance-parts.ts';
import { type LoadedPlugins, PluginLoader } from '../../../../kernel/registry/loading/plugin-loader.ts';
import { ReadFiles } from '../../../../kernel/runtime/prints/read-files.ts';
import { catalogue } from '../../../../plugins/index.ts';
import { headerSource, PluginFolder } from '../../../support/plugin-folder.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/**
 * Collects garbage in a later turn of the event loop, because a weak reference keeps its object until the turn ends.
 */
async function collectGarbage(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  collect();
}

describe('plugins from a folder', () => {
  let folder: PluginFolder;
  let loader: PluginLoader;

  beforeEach(() => {
    folder = new PluginFolder();
    loader = new PluginLoader();
  });
  afterEach(() => folder.remove());

  const load = (settings: object = {}, isTaken = (_name: string) => false): Promise<LoadedPlugins> =>
    loader.load({ folder: folder.path, ...settings }, undefined, new ReadFiles(), isTaken);
  const names = ({ plugins }: LoadedPlugins) => plugins.map(({ name }) => name);
  const messagesOf = ({ errors }: LoadedPlugins) => errors.map(({ code, message }) => `${code} ${message}`);
  const only = (errors: readonly ConfigError[]): ConfigError => {
    equal(errors.length, 1, errors.map(({ message }) => message).join('\n'));
    return errors[0]!;
  };

  it('are loaded from .ts, .mts, .js and .mjs files in alphabetical order, but not from tests, declarations and subfolders', async () => {
    for (const name of ['b.ts', 'a.mts', 'd.js', 'c.mjs']) {
      folder.write(name, headerSource('x', `acme/${name}`).replace(': Plugin', '').replace(', type Plugin', ''));
    }
    for (const name of ['a.test.ts', 'a.spec.ts', 'a.d.ts', 'readme.md', 'deeper/e.ts']) folder.write(name, 'broken (');
    const loaded = await load();
    deepEqual(messagesOf(loaded), []);
    deepEqual(names(loaded), ['acme/a.mts', 'acme/b.ts', 'acme/c.mjs', 'acme/d.js']);
  });

  it('are tracked by objects that stay in memory exactly as long as the plugin does', async () => {
    const timers = globalThis as { heldByTest?: unknown };
    const source = (what: string) =>
      `${headerSource(what)}\nimport { atService } from 'sluice/plugin';\nconst held = () => atService;\n${what === 'held' ? '(globalThis as any).heldByTest = held;' : ''}`;
    const partsOf = async (what: string) => {
      folder.write('a.ts', source(what));
      return instanceParts((await load()).plugins[0]!.source!);
    };
    const held = await partsOf('held');
    const free = await partsOf('free');
    await partsOf('last');
    const isThere = (parts: readonly WeakRef<object>[]) => parts.some((part) => part.deref() !== undefined);
    await collectGarbage();
    deepEqual([isThere(held), isThere(free)], [true, false]);
    delete timers.heldByTest;
    await collectGarbage();
    equal(isThere(held), false);
  });

  it('are found even if the folder is written without a trailing slash', async () => {
    folder.write('a.ts', headerSource('x', 'one'));
    deepEqual(names(await load({ folder: folder.path.slice(0, -1) })), ['one']);
  });

  it('import packages by their "import" condition, including packages with modules only, and subpaths', async () => {
    const only = 'node_modules/only-modules';
    const exported = { '.': { import: './main.js' }, './part/*': { import: './parts/*.js' } };
    folder.write(`${only}/package.json`, JSON.stringify({ name: 'only-modules', type: 'module', exports: exported }));
    folder.write(`${only}/main.js`, 'export default function main() { return "main"; }\nexport const kind = "import";');
    folder.write(`${only}/parts/a.js`, 'export const part = "a";');
    const both = 'node_modules/both-kinds';
    const conditions = { '.': { import: './main.mjs', require: './main.cjs' } };
    folder.write(`${both}/package.json`, JSON.stringify({ name: 'both-kinds', exports: conditions }));
    folder.write(`${both}/main.mjs`, 'export const kind = "import";');
    folder.write(`${both}/main.cjs`, 'exports.kind = "require";');
    const late = 'node_modules/late-modules';
    folder.write(`${late}/package.json`, JSON.stringify({ name: 'late-modules', exports: conditions }));
    folder.write(`${late}/main.mjs`, 'await 1;\nexport const kind = "import";');
    folder.write(`${late}/main.cjs`, 'exports.kind = "require";');
    folder.write(
      'a.ts',
      [
        "import main, { kind } from 'only-modules';",
        "import { part } from 'only-modules/part/a';",
        "import { kind as both } from 'both-kinds';",
        "import { kind as late } from 'late-modules';",
        headerSource('x', 'one').replace(
          "'Sets a header on the response.'",
          '[main(), kind, part, both, late].join(" ")',
        ),
      ].join('\n'),
    );
    const loaded = await load();
    deepEqual(messagesOf(loaded), []);
    equal(loaded.plugins[0]!.description, 'main import a import require');
  });

  it('can use import.meta, and mention it in strings and comments', async () => {
    folder.write(
      'a.ts',
      headerSource('x', 'one').replace(
        "'Sets a header on the response.'",
        "[import.meta.filename, 'import.meta', `import.meta @{import . meta.dirname}`, /* import.meta */ String(/import.meta/)].join(' ')".replace(
          '@',
          '$',
        ),
      ),
    );
    const loaded = await load();
    deepEqual(messagesOf(loaded), []);
    const directory = folder.path.slice(0, -1);
    equal(loaded.plugins[0]!.description, `${directory}/a.ts import.meta import.meta ${directory} /import.meta/`);
  });

  it('are limited to files whose names contain the pattern', async () => {
    folder.write('one.plugin.ts', headerSource('x', 'one'));
    folder.write('two.ts', headerSource('x', 'two'));
    deepEqual(names(await load({ pattern: '.plugin.' })), ['one']);
  });

  it('can be several per file, as an array or as the default export', async () => {
    folder.write(
      'many.ts',
      `${headerSource('x', 'one').replace('export const plugin', 'const one')}export const plugin = [one, { ...one, name: 'two' }];`,
    );
    folder.write('other.ts', headerSource('x', 'three').replace('export const plugin: Plugin =', 'export default'));
    deepEqual(names(await load()), ['one', 'two', 'three']);
  });

  it('use the same classes of the contract as the gateway', async () => {
    folder.write(
      'a.ts',
      `import { Reply, definePlugin } from 'sluice/plugin';\nexport const plugin = definePlugin({ name: 'a', contract: 1, description: 'A.', meaning: () => Reply as never });`,
    );
    const { Reply } = await import('../../../../kernel/contract/index.ts');
    const { plugins } = await load();
    equal(plugins[0]!.meaning!({}, 'service'), Reply as never);
  });

  it('can use TypeScript syntax that needs a compiler', async () => {
    folder.write(
      'typed.ts',
      `enum Colour { Red = 'red' }
class Named { constructor(private readonly text: string) {} get value(): string { return this.text; } }
export const plugin = { name: new Named(Colour.Red).value, contract: 1 as const, description: 'A.' } satisfies object;`,
    );
    deepEqual(names(await load()), ['red']);
  });

  it('import files from their own folder and its subfolders, JSON, packages and modules of Node.js', async () => {
    folder.write('lib/name.ts', `import { suffix } from './suffix.js';\nexport const name = 'acme' + suffix;`);
    folder.write('lib/suffix.ts', `export const suffix: string = '/x';`);
    folder.write('lib/words.json', '{"about": "From a file."}');
    folder.write(
      'main.ts',
      `import { basename } from 'node:path';
import fs from 'node:fs';
import words from './lib/words.json' with { type: 'json' };
import { name } from './lib/name.ts';
export const plugin = { name: name + basename('/y/z'), contract: 1, description: words.about + fs.existsSync(import.meta.dirname) };`,
    );
    const { plugins } = await load();
    equal(plugins[0]!.name, 'acme/xz');
    equal(plugins[0]!.description, 'From a file.true');
  });

  it('can use await at the top level of their file', async () => {
    folder.write(
      'a.ts',
      `const name = await Promise.resolve('late');\nexport const plugin = { name, contract: 1, description: 'A.' };`,
    );
    deepEqual(names(await load()), ['late']);
  });

  it('stay the same instance while the file and its imports are unchanged', async () => {
    folder.write('lib/value.ts', 'export const value = 1;');
    folder.write('a.ts', `import { value } from './lib/value.ts';\n${headerSource('x')}void value;`);
    const [first] = (await load()).plugins;
    folder.write('b.ts', headerSource('y', 'other'));
    const [again] = (await load()).plugins;
    equal(again, first);
    folder.write('lib/value.ts', 'export const value = 2;');
    const [changed] = (await load()).plugins;
    notEqual(changed, first);
    notEqual(changed!.source!.hash, first!.source!.hash);
    equal(changed!.source!.file, join(folder.path, 'a.ts'));
  });

  it('are removed from memory when they are replaced', async () => {
    folder.write('a.ts', headerSource('x'));
    const old = new WeakRef((await load()).plugins[0]!);
    folder.write('a.ts', headerSource('y'));
    await load();
    await collectGarbage();
    equal(old.deref(), undefined);
  });

  it('report the files that they were loaded from, including the folder and missing files', async () => {
    folder.write('a.ts', `import './gone.ts';`);
    const files = new ReadFiles();
    await loader.load({ folder: folder.path }, undefined, files, () => false);
    const hashes = new Map(files.reads.map(({ path, hash }) => [path, hash]));
    equal(hashes.get(join(folder.path, 'gone.ts')), null);
    ok(hashes.get(join(folder.path, 'a.ts')));
    ok(hashes.get(folder.path.slice(0, -1)));
  });

  describe('with an error', () => {
    const placed: [what: string, source: string, place: string, message: RegExp][] = [
      ['of syntax', 'const a = 1;\nconst b = ;\n', '2:11', /SyntaxError: Unexpected token/],
      [
        'of syntax that only the JavaScript engine detects',
        'let a = 1;\nlet a = 2;\n',
        '2:5',
        /SyntaxError: Identifier 'a' has already been declared/,
      ],
      ['that throws', 'const a = 1;\n\nthrow new Error("no licence");\n', '3:7', /^no licence$/],
      ['in a call', 'function f() {\n  null.x;\n}\nf();\n', '2:8', /TypeError/],
      ['that throws in line 1', 'const a: number = 1; throw new Error(String(a));\n', '1:28$', /^1$/],
      [
        'of syntax in line 1 that only the JavaScript engine detects',
        'const a: number = 1; let b = 1, b = 2;\n',
        '1:33$',
        /SyntaxError: Identifier 'b'/,
      ],
      [
        'in a call in line 1, after an import and an imported name',
        "import { join as joined } from 'node:path'; import * as os from 'node:os'; os.EOL; joined('a'); null.x;\n",
        '1:102$',
        /TypeError/,
      ],
      [
        'in a later line after imported names and types',
        "import { join as joined } from 'node:path';\n\n  const a: string = joined('a', joined('b')); (null as any as { x: 1 }).x;\n",
        '3:73$',
        /TypeError/,
      ],
      [
        'in the arguments of an imported name',
        "import { join } from 'node:path';\njoin('a', null.x);\n",
        '2:16$',
        /TypeError/,
      ],
      [
        'in the call of an imported name itself',
        "import { parentPort } from 'node:worker_threads';\nconst a: number = 1; parentPort!(a);\n",
        '2:22$',
        /TypeError/,
      ],
      ['in an import', "import './gone.ts';\n", '1:1$', /gone\.ts/],
      [
        'in the import of a missing package',
        "const a = 1;\nimport x from 'no-such-package-at-all';\nx();\n",
        '2',
        /Cannot find module 'no-such-package-at-all'/,
      ],
    ];
    for (const [what, source, place, message] of placed) {
      it(`${what} are rejected with file, line and column in the source`, async () => {
        const file = folder.write('a.ts', source);
        const { errors, plugins } = await load();
        deepEqual(plugins, []);
        const error = only(errors);
        ok(error instanceof PositionedError);
        equal(error.code, 'PLUGIN_LOAD');
        equal(error.pointer, '/plugin/folder');
        equal(error.file, file);
        match(`${error.position!.line}:${error.position!.column}`, new RegExp(`^${place}`));
        match(error.reason, message);
      });
    }

    it('in the import of a missing package are reported at that line even with a small Error.stackTraceLimit', async () => {
      folder.write('a.ts', "import x from 'no-such-package-at-all';\nx();\n");
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = 2;
      try {
        const { errors } = await load();
        equal((only(errors) as PositionedError).position?.line, 1);
        equal(Error.stackTraceLimit, 2);
      } finally {
        Error.stackTraceLimit = stackTraceLimit;
      }
    });
    it('in an imported file are reported there', async () => {
      const file = folder.write('lib/x.ts', '\n\nnull.y;\n');
      folder.write('a.ts', `import './lib/x.ts';`);
      const error = only((await load()).errors) as PositionedError;
      equal(error.file, file);
      equal(error.position!.line, 3);
    });

    const invalid: [what: string, source: string, message: RegExp][] = [
      [
        'without a contract version',
        `{ name: 'a', description: 'A.' }`,
        /"a" does not declare its contract version: add `contract: 1`/,
      ],
      [
        'for another contract version',
        `{ name: 'a', contract: 2, description: 'A.' }`,
        /"a" is written for version 2 of the contract, but this gateway has version 1/,
      ],
      ['without a name', `{ contract: 1, description: 'A.' }`, /"name" must be a namespace/],
      [
        'with the name of a prototype member',
        `{ name: '__proto__', contract: 1, description: 'A.' }`,
        /"name" must be a namespace/,
      ],
      [
        'with an empty segment in the name',
        `{ name: 'a//b', contract: 1, description: 'A.' }`,
        /"name" must be a namespace/,
      ],
      ['without a description', `{ name: 'a', contract: 1 }`, /"a" requires a "description"/],
      [
        'with an unknown member',
        `{ name: 'a', contract: 1, description: 'A.', place: [] }`,
        /"a" has an unknown member: "place"/,
      ],
      [
        'with an invalid place',
        `{ name: 'a', contract: 1, description: 'A.', places: [{ at: 'sky' }] }`,
        /places\[0\] of plugin "a" must be created by atService/,
      ],
      [
        'with an invalid schema',
        `{ name: 'a', contract: 1, description: 'A.', places: [{ at: 'endpoint', schema: { type: 'objekt' }, attach: () => ({}) }] }`,
        /places\[0\] of plugin "a" has a schema that cannot be used/,
      ],
      ['a number in place of a plugin', '7', /it exports no plugin/],
    ];
    for (const [what, source, message] of invalid) {
      it(`in their declaration (${what}) are rejected with the name of the file`, async () => {
        const file = folder.write('a.ts', `export const plugin = ${source};`);
        const error = only((await load()).errors);
        equal(error.code, 'PLUGIN_INVALID');
        ok(error.message.startsWith(`${file}: `));
        match(error.message, message);
      });
    }

    it('do not stop other plugins from being loaded', async () => {
      folder.write('a.ts', 'throw new Error("broken")');
      folder.write('b.ts', headerSource('x'));
      const loaded = await load();
      deepEqual(names(loaded), ['acme/header']);
      equal(loaded.errors.length, 1);
    });
  });

  it('such as an endless loop are stopped, with the line of the loop', async () => {
    // The limit is long, because the watching thread must start within half of it.
    loader = new PluginLoader(undefined, 3000);
    const lib = folder.write('lib.ts', 'export const spin = (): never => {\n  for (;;) {}\n};');
    folder.write('a.ts', `import { spin } from './lib.ts';\nspin();`);
    const error = only((await load()).errors) as PositionedError;
    equal(error.reason, 'the plugin did not finish loading: it runs in an endless loop');
    deepEqual([error.file, error.position?.line], [lib, 2]);
    match(error.hint!, /site\.warm/);
  });

  it('that did not finish loading are loaded again only when one of their files has changed', async () => {
    loader = new PluginLoader(undefined, 50);
    const counted = globalThis as { evaluations?: number };
    const helper = (text: string) =>
      folder.write('lib.ts', `globalThis.evaluations = (globalThis.evaluations ?? 0) + 1; // ${text}`);
    helper('one');
    folder.write('a.ts', `import './lib.ts';\nfor (;;) {}`);
    const refusals: unknown[] = [];
    const evaluations: unknown[] = [];
    for (const text of ['one', 'one', 'two']) {
      helper(text);
      refusals.push(messagesOf(await load())[0]);
      evaluations.push(counted.evaluations);
    }
    delete counted.evaluations;
    match(String(refusals[0]), /the plugin did not finish loading: it runs in an endless loop/);
    deepEqual([new Set(refusals).size, evaluations[1], evaluations[0] !== evaluations[2]], [1, evaluations[0], true]);
  });

  it('that throw an error while they are loaded are loaded again later even if unchanged, because the cause may lie elsewhere', async () => {
    const counted = globalThis as { evaluations?: number };
    folder.write('a.ts', `globalThis.evaluations = (globalThis.evaluations ?? 0) + 1;\nthrow new Error('not yet');`);
    for (const [retryMs, counts] of [
      [0, [1, 2]],
      [60_000, [1, 1]],
    ] as const) {
      loader = new PluginLoader(undefined, 1000, retryMs);
      counted.evaluations = 0;
      for (const count of counts) {
        match(messagesOf(await load())[0]!, /a\.ts:2:7: not yet$/);
        equal(counted.evaluations, count);
      }
    }
    folder.write('a.ts', headerSource('mended'));
    deepEqual(names(await load()), ['acme/header']);
    delete counted.evaluations;
  });

  it('with a missing import are loaded again once it exists', async () => {
    loader = new PluginLoader(undefined, 1000, 60_000);
    folder.write('a.ts', `import './lib.js';\n${headerSource('x')}`);
    match(messagesOf(await load())[0]!, /cannot read .*lib\.js/);
    folder.write('lib.ts', '');
    deepEqual(names(await load()), ['acme/header']);
  });

  it('that change while requests may be pending are first loaded in a thread as a trial', async () => {
    loader = new PluginLoader(catalogue.adapt, 200);
    const marked = globalThis as { evaluatedByTest?: string };
    const source = (text: string) => `globalThis.evaluatedByTest = '${text}';\n${headerSource(text)}`;
    folder.write('a.ts', source('first'));
    deepEqual(messagesOf(await load()), []);
    folder.write('a.ts', `globalThis.evaluatedByTest = 'loop';\nfor (;;) {}`);
    match(
      messagesOf(await load())[0]!,
      /PLUGIN_LOAD .*a\.ts.*: the plugin did not finish loading: it runs in an endless loop/,
    );
    equal(marked.evaluatedByTest, 'first');
    folder.write('a.ts', source('second'));
    const loaded = await load();
    deepEqual([messagesOf(loaded), names(loaded), marked.evaluatedByTest], [[], ['acme/header'], 'second']);
    delete marked.evaluatedByTest;
  });

  it('that await a promise that never settles are rejected', async () => {
    loader = new PluginLoader(undefined, 50);
    const file = folder.write('a.ts', 'const wait = async () => {\n  await 1;\n};\nawait new Promise(() => wait);');
    const error = only((await load()).errors) as PositionedError;
    equal(error.reason, 'the plugin did not finish loading: it waits for a promise that never settles');
    deepEqual([error.file, error.position?.line], [file, 4]);
    match(error.hint!, /site\.warm/);
    folder.write('a.ts', 'await 1;\nawait new Promise(() => {});');
    match(messagesOf(await load())[0]!, /at one of the lines 1, 2$/);
  });

  it('with the same name are rejected with both files', async () => {
    const one = folder.write('a.ts', headerSource('x'));
    const two = folder.write('b.ts', headerSource('y'));
    deepEqual(messagesOf(await load()), [`PLUGIN_DUPLICATE ${two}: plugin "acme/header" is already defined in ${one}`]);
  });

  it('with the name of a built-in plugin are rejected', async () => {
    const file = folder.write('a.ts', headerSource('x', 'security/cors'));
    const loaded = await load({}, (name) => name === 'security/cors');
    deepEqual(messagesOf(loaded), [`PLUGIN_NAME ${file}: the gateway already has a plugin named "security/cors"`]);
  });

  it('are required in the files of the folder, where a missing one causes a warning, but not in imported files', async () => {
    folder.write('a.ts', `import { text } from './shared.ts';\n${headerSource('x')}void text;`);
    folder.write('shared.ts', `export const text = 'x';`);
    const idle = folder.write('idle.ts', `export const text = 'x';`);
    const { errors, warnings } = await load();
    deepEqual(errors, []);
    deepEqual(
      warnings.map(({ code, message }) => `${code} ${message}`),
      [`PLUGIN_NONE ${idle} exports no plugin`],
    );
  });

  it('are reported at /plugin/folder if the folder is missing', async () => {
    const { errors } = await loader.load({ folder: `${folder.path}none/` }, undefined, new ReadFiles(), () => false);
    const { code, pointer, message } = only(errors);
    deepEqual([code, pointer], ['PLUGIN_FOLDER', '/plugin/folder']);
    match(message, /cannot read the plugin folder: ENOENT/);
  });

  it('compiled for KrakenD cause a warning with a hint', async () => {
    folder.write('a.so', '');
    const { warnings } = await load({ pattern: '.so' });
    match(
      warnings[0]!.message,
      /no plugin in .*: the folder has no .ts, .mts, .js or .mjs file whose name contains "\.so"/,
    );
    match(warnings[0]!.hint!, /compiled plugins of another product cannot be loaded/);
  });

  it('are loaded from a folder on the command line, too', async () => {
    folder.write('a.ts', headerSource('x'));
    const loaded = await loader.load(undefined, folder.path, new ReadFiles(), () => false);
    deepEqual(names(loaded), ['acme/header']);
  });

  describe('from packages', () => {
    const cwd = process.cwd();
    beforeEach(() => process.chdir(folder.path));
    afterEach(() => process.chdir(cwd));

    const install = (name: string, manifest: object, file: string) => {
      const path = join(folder.path, 'node_modules', name);
      mkdirSync(join(path, 'dist'), { recursive: true });
      writeFileSync(
        join(path, 'package.json'),
        JSON.stringify({ name, version: '1.0.0', type: 'module', ...manifest }),
      );
      writeFileSync(
        join(path, file),
        `import { definePlugin } from 'sluice/plugin';\nexport const plugin = definePlugin({ name: '${name.slice(1)}', contract: 1, description: 'A.' });`,
      );
    };
    const loadPackages = (...packages: string[]) => loader.load({ packages }, undefined, new ReadFiles(), () => false);

    it('are resolved from the working directory by exports or main', async () => {
      install('@acme/one', { exports: { '.': { types: './x.d.ts', import: './dist/one.js' } } }, 'dist/one.js');
      install('@acme/two', { main: './dist/two.js' }, 'dist/two.js');
      const loaded = await loadPackages('@acme/one', '@acme/two');
      deepEqual(messagesOf(loaded), []);
      deepEqual(names(loaded), ['acme/one', 'acme/two']);
    });

    it('are rejected by name if the package is not installed', async () => {
      const error = only((await loadPackages('@acme/none')).errors);
      deepEqual([error.code, error.pointer], ['PLUGIN_PACKAGE', '/plugin/packages/0']);
      match(error.message, /package "@acme\/none" is not installed in /);
    });
  });
});
