import { deepEqual, equal } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, normalize } from 'node:path';
import ts from 'typescript';
import * as contract from '#contract';
import { catalogue } from '../plugins/index.ts';

/** Directories of the kernel from left to right: each may import only those to its left. */
const rooms = [
  'values',
  'net',
  'mcp',
  'contract',
  'patterns',
  'templates',
  'logging',
  'config',
  'containment',
  'registry',
  'pipeline',
  'runtime',
  'server',
  'inspect',
  'sources',
  'control',
  'workers',
  'gateway',
  'sandbox',
  'cases',
  'attack',
  'testing',
  'cli',
];

/**
 * Directories that plugins share: engines of languages and formats, clients of other systems, and small tasks. Each lists
 * everything that imports it: groups of plugins, and directories that follow it in this table.
 */
const sharedRooms: Readonly<Record<string, readonly string[]>> = {
  'shared/buckets': ['ai', 'async', 'auth', 'qos'],
  'shared/calls': [
    'ai',
    'auth',
    'backend',
    'clients/amqp',
    'clients/aws',
    'clients/broker',
    'clients/kafka',
    'clients/keys',
    'clients/nats',
    'clients/redis',
    'clients/tokens',
    'engines/cel',
    'engines/lua',
    'secrets',
    'source',
    'telemetry',
  ],
  'shared/http-headers': [
    'ai',
    'auth',
    'backend',
    'modifier',
    'plugin',
    'proxy',
    'qos',
    'shared/files',
    'shared/retries',
  ],
  'shared/logging': ['ai', 'auth', 'backend', 'governance', 'modifier', 'telemetry'],
  'shared/parameters': ['ai', 'auth', 'backend', 'engines/cel', 'governance', 'modifier', 'qos'],
  'shared/ports': [
    'ai',
    'engines/cel',
    'governance',
    'grpc',
    'modifier',
    'plugin',
    'qos',
    'security',
    'server',
    'telemetry',
  ],
  'shared/replies': ['modifier', 'plugin', 'security', 'validation'],
  'shared/retries': ['ai', 'async', 'auth', 'backend', 'clients/broker', 'websocket'],
  'shared/sample-claims': ['attack', 'auth'],
  'shared/values': [
    'auth',
    'documentation',
    'engines/templates',
    'modifier',
    'plugin',
    'shared/files',
    'validation',
    'websocket',
  ],
  'shared/workflows': ['ai', 'workflow'],
  'shared/files': ['backend', 'plugin', 'server'],
  'engines/cel': ['ai', 'backend', 'security', 'shared/callers', 'telemetry', 'validation'],
  'engines/documents': ['backend', 'documentation', 'encoding', 'engines/lua', 'engines/templates'],
  'engines/grpc': ['auth', 'backend', 'clients/grpc', 'grpc', 'telemetry'],
  'engines/lua': ['modifier'],
  'engines/templates': ['ai', 'backend', 'modifier'],
  'shared/callers': ['ai', 'auth', 'governance', 'proxy', 'qos', 'security', 'telemetry', 'validation'],
  'clients/tls': [
    'async',
    'auth',
    'backend',
    'clients/amqp',
    'clients/grpc',
    'clients/kafka',
    'clients/nats',
    'clients/redis',
    'redis',
    'telemetry',
    'websocket',
  ],
  'clients/broker': ['async', 'backend', 'clients/amqp', 'clients/kafka', 'clients/nats', 'source'],
  'clients/amqp': ['async', 'backend'],
  'clients/aws': ['auth', 'backend', 'secrets'],
  'clients/http2': ['backend', 'clients/grpc'],
  'clients/grpc': ['auth', 'backend', 'telemetry'],
  'clients/kafka': ['async', 'backend'],
  'clients/keys': ['attack', 'auth', 'plugin'],
  'clients/nats': ['async', 'backend', 'source'],
  'clients/redis': ['ai', 'auth', 'governance', 'plugin', 'qos', 'redis'],
  'clients/tokens': ['auth'],
};

/** Files outside of these directories, and what they may import. */
const roots: Readonly<Record<string, readonly string[]>> = {
  'kernel/version.ts': [],
  'kernel/index.ts': [
    'contract',
    'logging',
    'config',
    'containment',
    'registry',
    'pipeline',
    'runtime',
    'server',
    'inspect',
    'control',
    'workers',
    'gateway',
    'cases',
    'kernel/start-admin.ts',
    'kernel/version.ts',
  ],
  'kernel/start-admin.ts': ['gateway'],
  'kernel/sluice.ts': ['contract', 'kernel/index.ts', 'plugins/index.ts'],
  'kernel/bin.ts': ['cli', 'kernel/index.ts', 'kernel/sluice.ts', 'plugins/index.ts', 'admin/index.ts'],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

/** Every import between files of the repository, as paths from its root. */
function importsOf(file: string): Import[] {
  return ts
    .preProcessFile(readFileSync(file, 'utf8'), true, true)
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => name.startsWith('.') || name.startsWith('#'))
    .map((name) => ({ from: file, to: name.startsWith('#') ? name : normalize(`${dirname(file)}/${name}`) }));
}

function roomOf(path: string): string | undefined {
  return path === '#contract' ? 'contract' : /^kernel\/([^/]+)\//.exec(path)?.[1];
}

/** Directory below plugins/ that a file belongs to, such as `auth` or `clients/redis`; undefined for other files. */
function familyOf(path: string): string | undefined {
  return /^plugins\/((?:engines|clients|shared)\/[^/]+|[^/.]+)[/.]/.exec(path)?.[1];
}

/** Reason why a plugin file may not import another one; undefined if it may. */
function objectionOfPlugin({ from, to }: Import): string | undefined {
  if (to === '#contract') return undefined;
  if (from === 'plugins/index.ts') return to.startsWith('plugins/') ? undefined : 'the manifest imports plugins only';
  const family = familyOf(from)!;
  const target = familyOf(to);
  if (target === family) return undefined;
  const importers = sharedRooms[target ?? ''];
  if (!importers) return 'a plugin imports #contract, its own family, shared rooms and packages';
  if (!importers.includes(family)) return `"${family}" does not stand in the list of "${target}"`;
  const order = Object.keys(sharedRooms);
  return order.includes(family) && order.indexOf(family) < order.indexOf(target!)
    ? `"${target}" does not stand above "${family}"`
    : undefined;
}

/** Reason why an import is not allowed; undefined if it is. */
function objection({ from, to }: Import): string | undefined {
  if (from.startsWith('plugins/')) return objectionOfPlugin({ from, to });
  if (from.startsWith('admin/')) {
    return to === '#kernel' || to === '#contract' || to.startsWith('admin/') ? undefined : 'admin sees the façade only';
  }
  const target = roomOf(to);
  const allowed = roots[from];
  if (allowed) return allowed.includes(to) || (target && allowed.includes(target)) ? undefined : 'not in its list';
  const room = roomOf(from)!;
  if (to === 'kernel/version.ts' || target === room) return undefined;
  if (room === 'cli' && to === 'kernel/index.ts') return undefined;
  if (target === undefined) return 'rooms import rooms';
  return rooms.indexOf(target) < rooms.indexOf(room)
    ? undefined
    : `"${target}" does not stand to the left of "${room}"`;
}

/** Every text in the code of a file: strings and templates, no comments. */
function textsOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const results: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node)) results.push(node.text);
    if (ts.isRegularExpressionLiteral(node)) results.push(node.text.replaceAll('\\', ''));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return results;
}

const files = globSync(['kernel/**/*.ts', 'plugins/**/*.ts', 'admin/**/*.ts']);

/** Every import that closes a circle, with the path from the file back to itself. */
function circles(): string[] {
  const aliases: Readonly<Record<string, string>> = {
    '#contract': 'kernel/contract/index.ts',
    '#kernel': 'kernel/index.ts',
  };
  const targets = new Map(files.map((file) => [file, importsOf(file).map(({ to }) => aliases[to] ?? to)]));
  const closed: string[] = [];
  const done = new Set<string>();
  const follow = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) closed.push([...way.slice(way.indexOf(file)), file].join(' > '));
    if (way.includes(file) || done.has(file)) return;
    for (const target of targets.get(file) ?? []) follow(target, [...way, file]);
    done.add(file);
  };
  for (const file of files) follow(file, []);
  return closed;
}

describe('the architecture', () => {
  it('lets every file import only what its folder may import', () => {
    const wrong = files.flatMap(importsOf).flatMap((each) => {
      const why = objection(each);
      return why ? [`${each.from} imports ${each.to}: ${why}`] : [];
    });
    equal(wrong.join('\n'), '');
  });

  it('lists every folder of the kernel', () => {
    const results = new Set(files.map(roomOf).filter((room) => room !== undefined));
    equal([...results].sort().join(), [...rooms].sort().join());
  });

  it('lists every shared folder of the plugins with exactly the families of plugins that import it', () => {
    const shared = files.filter((file) => /^plugins\/(?:engines|clients|shared)\//.test(file));
    deepEqual([...new Set(shared.map(familyOf))].sort(), Object.keys(sharedRooms).sort());
    const importers = new Map(Object.keys(sharedRooms).map((room) => [room, new Set<string>()]));
    for (const { from, to } of files.filter((file) => file !== 'plugins/index.ts').flatMap(importsOf)) {
      const [family, target] = [familyOf(from), familyOf(to)];
      if (family !== undefined && target !== family) importers.get(target ?? '')?.add(family);
    }
    for (const [room, names] of importers) deepEqual([room, [...names].sort()], [room, [...sharedRooms[room]!].sort()]);
  });

  it('has no circular imports, types included', () => {
    equal(circles().join('\n'), '');
  });

  it('states rules in comments instead of citing them by number', () => {
    const citing = files.filter((file) => /\b(?:decision|rules?) \d/i.test(readFileSync(file, 'utf8')));
    equal(citing.join('\n'), '');
  });

  it('names no plugin in the kernel', () => {
    const names = [...Object.keys(catalogue.plugins), ...catalogue.compatibility!.namespaces];
    const words = names.filter((name) => name.includes('/'));
    // Some of the names have other meanings, too: schema types and file formats.
    const common = ['string', 'json', 'yaml', 'xml', 'streaming'];
    const encodings = names.filter((name) => name.startsWith('encoding/')).map((name) => name.slice(9));
    const special = encodings.filter((name) => !common.includes(name));
    const named = files
      .filter((file) => file.startsWith('kernel/'))
      .flatMap((file) =>
        textsOf(file)
          .filter((text) => words.some((word) => text.includes(word)) || special.includes(text))
          .map((text) => `${file}: ${text}`),
      );
    // A word of the configuration format itself: the encoding that the catch-all endpoint always has.
    deepEqual(named, ['kernel/contract/endpoint-schema.ts: no-op']);
  });

  it('exports from the plugin contract (#contract) exactly what some plugin imports', () => {
    const texts = globSync(['plugins/**/*.ts', 'test/kernel/seams/*.ts']).map((file) => readFileSync(file, 'utf8'));
    const imported = new Set(
      texts
        .flatMap((text) => [...text.matchAll(/import (?:type )?\{([^}]*)\} from '#contract';/g)])
        .flatMap(([, names]) => names!.split(',').map((name) => name.replace(/ as .*/s, '').trim())),
    );
    deepEqual(
      Object.keys(contract).filter((name) => !imported.has(name)),
      [],
    );
  });

  it('keeps every file under 300 lines', () => {
    const long = [...files, ...globSync(['scripts/**/*.ts', 'admin/**/*.{tsx,css}'])].filter(
      (file) => readFileSync(file, 'utf8').split('\n').length > 301,
    );
    equal(long.join('\n'), '');
  });
});
