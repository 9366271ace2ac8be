import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize, resolve } from 'node:path';
import { promisify } from 'node:util';
import { compiler } from '../scripts/build/compiler.ts';
import { componentTypes } from '../scripts/build/component-types.ts';
import { imports } from '../scripts/build/imports.ts';
import { sluice } from './kernel/cli/command.ts';
import { MODULE_KINDS } from './kernel/cli/module-kinds.ts';

const run = promisify(execFile);

describe('the published package', function () {
  this.timeout(180_000);
  let files: string[];
  before(async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts']);
    files = JSON.parse(stdout)[0].files.map(({ path }: { path: string }) => path);
  });

  it('contains the README, samples and other files that users need', () => {
    for (const file of ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'samples/quickstart/gateway.json']) {
      ok(files.includes(file), file);
    }
  });

  it('excludes the documentation site, which repeats the Markdown of dist/docs', () => {
    ok(JSON.parse(readFileSync('package.json', 'utf8')).files.includes('!dist/site'));
    ok(!files.some((file) => file.startsWith('dist/site')));
  });

  it('contains every file that its texts link to', () => {
    const texts = files.filter((file) => file.endsWith('.md') && !file.startsWith('dist/'));
    const links = texts.flatMap((file) =>
      Array.from(readFileSync(file, 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g), ([, target]) =>
        normalize(join(dirname(file), target!)),
      ),
    );
    ok(links.length > 0);
    deepEqual(
      links.filter((target) => !files.includes(target)),
      [],
    );
  });
});

describe('the type declarations of the package', function () {
  this.timeout(180_000);
  let home: string;
  let compilerOutput: string;
  before(async () => {
    home = mkdtempSync(join(tmpdir(), 'sluice-author-'));
    await install();
    writeFileSync(join(home, 'package.json'), JSON.stringify({ type: 'module' }));
    const compilerOptions = {
      ...{
        target: 'es2024',
        lib: ['es2024', 'esnext'],
        module: 'nodenext',
        types: ['node'],
        noEmit: true,
        allowImportingTsExtensions: true,
      },
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false },
    };
    writeFileSync(
      join(home, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['*.ts', 'generated/*.ts'] }),
    );
    await compile();
  });
  after(() => rmSync(home, { recursive: true }));

  /** The files of an author who has installed the package and the types of Node.js only. */
  const install = async (): Promise<void> => {
    const installed = join(home, 'node_modules/sluice');
    mkdirSync(join(installed, 'dist'), { recursive: true });
    await run(process.execPath, [
      compiler,
      '--checkers',
      '1',
      '--project',
      'tsconfig.build.json',
      '--emitDeclarationOnly',
      '--outDir',
      join(installed, 'dist'),
    ]);
    writeFileSync(join(installed, 'dist/kernel/contract/components.d.ts'), await componentTypes());
    writeFileSync(join(installed, 'dist/package.json'), JSON.stringify({ type: 'module', imports }));
    copyFileSync('package.json', join(installed, 'package.json'));
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    for (const name of [...Object.keys(dependencies), '@types/node']) {
      const link = join(home, 'node_modules', name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(resolve('node_modules', name), link);
    }
  };

  const documented = modulesOf(
    ['module', 'faults'].map((page) => readFileSync(`samples/plugins/${page}.md`, 'utf8')).join('\n'),
  );
  const programs = Array.from(
    readFileSync('samples/library/README.md', 'utf8').matchAll(/^```ts (\S+)\n(.*?)^```$/gms),
    ([, name, text]) => [name!, text!] as const,
  );

  /** Compiles all files under strict settings that also check the declarations of libraries: together, because that takes most of the time. */
  const compile = async (): Promise<void> => {
    for (const kind of MODULE_KINDS) {
      const name = `acme/${kind}`;
      const { code } = await sluice('plugin', 'new', name, '--kind', kind, '--folder', join(home, 'generated'));
      equal(code, 0);
    }
    for (const name of ['plugin.ts', 'module.ts', 'configuration.ts'])
      copyFileSync(`test/support/author/${name}`, join(home, name));
    for (const [index, text] of documented.entries()) writeFileSync(join(home, `documented-${index}.ts`), text);
    for (const [name, text] of programs) writeFileSync(join(home, name), text);
    const compiled = run(process.execPath, [compiler, '--checkers', '1', '--project', home], { cwd: home });
    ({ stdout: compilerOutput } = await compiled.catch((error) => error));
  };
  /** Errors of the compiler in files of these names. */
  const errorsIn = (names: RegExp) => compilerOutput.split('\n').filter((line) => names.test(line));

  it('let plugins and modules compile under strict settings, including generated ones and those of the guide', () => {
    ok(documented.length >= 3);
    deepEqual(errorsIn(/^(plugin|module|documented-\d+|generated\/.*)\.ts/), []);
  });

  it('contain the settings of every component, and those that plugins declare', () => {
    deepEqual(errorsIn(/^configuration\.ts/), []);
    // Declarations of the package are checked as well.
    deepEqual(errorsIn(/^(node_modules|\.\.|error)/), []);
  });

  it("let the example package of the guide to packages compile with the package's own settings", async () => {
    cpSync('samples/packages/sluice-team', join(home, 'sluice-team'), { recursive: true });
    const { stdout } = await run(process.execPath, [
      compiler,
      '--checkers',
      '1',
      '--project',
      join(home, 'sluice-team'),
    ]);
    equal(stdout, '');
    ok(existsSync(join(home, 'sluice-team/dist/index.d.ts')));
    rmSync(join(home, 'sluice-team'), { recursive: true });
  });

  it('let the programs of the library guide compile', () => {
    equal(programs.length, 6);
    const names = programs.map(([name]) => name);
    deepEqual(
      compilerOutput.split('\n').filter((line) => names.some((name) => line.startsWith(`${name}(`))),
      [],
    );
  });
});

/** The examples of a guide that are KrakenD-compatible modules. */
function modulesOf(guide: string): string[] {
  const examples = Array.from(guide.matchAll(/^```ts\n(.*?)^```$/gms), ([, text]) => text!);
  return examples.filter((text) => text.includes('apiVersion: 1'));
}

describe('the sluice command of the repository', () => {
  it('is the command of the package', async () => {
    match((await run(process.execPath, ['bin/sluice.mjs', 'version'])).stdout, /^Sluice Version: /);
  });
});
