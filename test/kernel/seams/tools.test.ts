import { deepEqual, equal, match } from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { atEndpoint, definePlugin } from '#contract';
import { main } from '../../../kernel/cli/main.ts';
import type { FilePosition } from '../../../kernel/inspect/index.ts';
import { withPlugins } from '../../../kernel/registry/registry.ts';
import { catalogue } from '../../../plugins/index.ts';
import { createFolder, type Folder } from '../cli/command.ts';

/** A plugin that locks endpoints, with a command that creates a key and an audit rule for unlocked endpoints. */
const locks = definePlugin({
  name: 'test/locks',
  description: 'Locks endpoints.',
  places: [
    atEndpoint(
      { type: 'object', properties: { key: { type: 'string', description: 'Opens it.', secret: true, default: '' } } },
      () => ({}),
    ),
  ],
  audit: [
    {
      id: 'test/locks.missing',
      severity: 'HIGH',
      message: 'Lock an endpoint.',
      find: ({ components }) => (components.some(({ namespace }) => namespace === 'test/locks') ? [] : ['/endpoints']),
    },
  ],
  commands: {
    key: {
      usage: 'WORD',
      summary: 'Make a key out of a word.',
      flags: { loud: { type: 'boolean', default: false, about: 'In capitals.' } },
      async run({ values, positionals: [word = ''], stdout }) {
        stdout.write(`${values['loud'] ? word.toUpperCase() : word}\n`);
        return word === '' ? 2 : 0;
      },
    },
    doors: {
      usage: 'FILE',
      summary: 'List the endpoints of a file.',
      flags: {},
      async run({ positionals: [file = ''], stdout, readConfig }) {
        const config = await readConfig(file);
        for (const { method, endpoint } of config?.endpoints ?? []) stdout.write(`${method} ${endpoint}\n`);
        return config ? 0 : 1;
      },
    },
    'try lock': {
      usage: '',
      summary: 'Try the lock.',
      flags: {},
      aliases: ['lock try', 'attempt'],
      async run({ stdout }) {
        stdout.write('locked\n');
        return 0;
      },
    },
    'try door': { usage: '', summary: 'Try the door.', flags: {}, run: async () => 3 },
    open: {
      usage: 'PATH',
      summary: 'Serve a door.',
      flags: {},
      run: ({ positionals: [path = ''], serve }) =>
        serve({
          version: 3,
          port: 0,
          listen_ip: '127.0.0.1',
          endpoints: [{ ...document({}).endpoints[0], endpoint: path }],
        }),
    },
  },
});

const plugged = withPlugins(catalogue, [locks]);

async function sluice(...args: string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const signals = { on: () => {}, once: () => {}, off: () => {} } as never;
  const code = await main(args, { stdout, stderr, env: {}, signals, exit() {}, program: '', catalogue: plugged });
  stdout.end();
  stderr.end();
  return { code, out: await text(stdout), err: await text(stderr) };
}

const document = (extra: object) => ({
  version: 3,
  endpoints: [{ endpoint: '/a', extra_config: extra, backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }] }],
});

describe('of a plugin,', () => {
  let folder: Folder;
  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  describe('a command', () => {
    it('is called by its name, with its flags', async () => {
      deepEqual(await sluice('key', 'abc', '--loud'), { code: 0, out: 'ABC\n', err: '' });
    });
    it('is listed, and has help', async () => {
      match((await sluice('help')).out, /^ +key +Make a key out of a word\.$/m);
      const { out } = await sluice('help', 'key');
      match(out, /^usage: sluice key WORD \[FLAGS\]$/m);
      match(out, /--loud +In capitals\./);
    });
    it('reads configurations with defaults, and reports their errors', async () => {
      const good = folder.write('doors.json', document({}));
      deepEqual(await sluice('doors', good), { code: 0, out: 'GET /a\n', err: '' });
      const { code, err } = await sluice('doors', folder.write('bad.json', document({ 'test/locks': { kye: 'x' } })));
      equal(code, 1);
      match(err, /'kye'[\s\S]*hint: key/);
    });
    it('can serve a configuration that it creates, until it is stopped', async () => {
      const [stdout, stderr, signals] = [new PassThrough(), new PassThrough(), new EventEmitter()];
      const context = { stdout, stderr, env: {}, signals, exit() {}, program: '', catalogue: plugged };
      const ended = main(['open', '/door'], context);
      let printed = '';
      for await (const chunk of stderr) {
        printed += chunk;
        if (/ on port \d+/.test(printed)) break;
      }
      const url = `http://127.0.0.1:${/ on port (\d+)/.exec(printed)![1]}`;
      equal((await fetch(`${url}/door`)).status, 500);
      equal((await fetch(`${url}/wall`)).status, 404);
      signals.emit('SIGTERM', 'SIGTERM');
      equal(await ended, 0);
    });
    it('does not serve a configuration with errors', async () => {
      const { code, err } = await sluice('open', 'no-slash');
      equal(code, 1);
      match(err, /^ERROR .*endpoint/s);
    });
    it('can have a name of two words, of which several commands share the first', async () => {
      deepEqual(await sluice('try', 'lock'), { code: 0, out: 'locked\n', err: '' });
      equal((await sluice('try', 'door')).code, 3);
      const { out } = await sluice('help');
      match(out, /^ {2}try lock +Try the lock\.\n {2}try door +Try the door\.$/m);
      match((await sluice('help', 'try', 'lock')).out, /^usage: sluice try lock \[FLAGS\]$/m);
      match((await sluice('help', 'try')).out, /^usage: sluice try lock \| door \[FLAGS\]$/m);
      const { code, err } = await sluice('try', 'window');
      equal(code, 2);
      match(err, /specify what to try: lock or door/);
    });
    it('can have aliases, which are not listed', async () => {
      for (const alias of [['lock', 'try'], ['attempt']]) equal((await sluice(...alias)).out, 'locked\n');
      equal(/lock try|attempt/.test((await sluice('help')).out), false);
    });
    it('is suggested for a misspelled name', async () => {
      match((await sluice('keyy')).err, /did you mean "key"/);
    });
    it('rejects unknown flags', async () => {
      const { code, err } = await sluice('key', '--lod');
      equal(code, 2);
      match(err, /--loud/);
    });
  });

  describe('an audit rule', () => {
    const recommended = async (extra: object) => {
      const { out } = await sluice('audit', '-c', folder.write('a.json', document(extra)), '--format', 'json');
      const { recommendations } = JSON.parse(out) as { recommendations: { rule: string; instances: FilePosition[] }[] };
      return recommendations;
    };
    const reported = async (extra: object) =>
      (await recommended(extra)).some(({ rule }) => rule === 'test/locks.missing');
    it('matches if its component is missing', async () => equal(await reported({}), true));
    it('does not match if its component exists', async () => equal(await reported({ 'test/locks': {} }), false));
    it('can be ignored', async () => {
      const file = folder.write('b.json', document({}));
      equal((await sluice('audit', '-c', file, '--ignore', 'test/locks.missing')).err, '');
    });
    it('can read which fields the schema of a component marks as secret', async () => {
      const results = await recommended({ 'test/locks': { key: 'opensesame' } });
      const { instances } = results.find(({ rule }) => rule === '8.1.5')!;
      equal(instances[0]!.pointer, '/endpoints/0/extra_config/test~1locks/key');
    });
  });
});
