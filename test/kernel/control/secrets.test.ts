// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in a configuration are written so.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { atService, type DataObject, definePlugin, type SecretStore, type StoredSecret } from '#contract';
import { ConfigText, hashOfExamined, type Operations } from '#kernel';
import { until } from '../../support/conditions.ts';
import { openGateway, rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';

/** A store of secrets in memory. */
class MemoryStore implements SecretStore {
  refreshMs = 0;
  startupMs = 0;
  readonly secrets = new Map<string, StoredSecret>();
  readonly fetched: string[] = [];
  readonly renewals: string[] = [];
  renewedMs = 60;
  failure: Error | null = null;
  keepAlive?: NonNullable<SecretStore['keepAlive']>;

  async fetch(name: string): Promise<StoredSecret> {
    this.fetched.push(name);
    if (this.failure) throw this.failure;
    const secret = this.secrets.get(name);
    if (!secret) throw new Error('no such secret');
    return secret;
  }

  async renew({ id }: { readonly id: string }): Promise<number> {
    this.renewals.push(id);
    if (this.failure) throw this.failure;
    return this.renewedMs;
  }

  set(name: string, content: string | DataObject): void {
    this.secrets.set(name, { content });
  }
}

describe('secrets from stores', () => {
  let store: MemoryStore;
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let sinks: ReturnType<typeof rememberingSinks>;

  beforeEach(async () => {
    store = new MemoryStore();
    sinks = rememberingSinks();
    backend = await startBackend((seen, response) => {
      response
        .writeHead(200, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ got: seen.headers['x-key'] }));
    });
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await backend.close();
  });

  const plugin = () =>
    definePlugin({
      name: 'acme/store',
      description: 'Keeps secrets in memory.',
      secretSchemes: ['acme'],
      independent: true,
      places: [
        atService({ type: 'object', properties: { address: { type: 'string', description: 'Address.' } } }, () => ({
          secrets: store,
        })),
      ],
    });

  const config = (key: string, more: object = {}) => ({
    version: 3,
    endpoints: [
      {
        endpoint: '/a',
        backend: [
          {
            host: [backend.url],
            url_pattern: '/',
            extra_config: {
              'modifier/martian': { 'header.Modifier': { scope: ['request'], name: 'X-Key', value: key } },
            },
          },
        ],
      },
    ],
    ...more,
  });

  const start = async (source: object | ConfigText, options = {}): Promise<Operations> => {
    gateway = await openGateway(source as ConfigText, { port: 0, sinks, plugins: [plugin()], ...options });
    return gateway;
  };

  const got = async (): Promise<unknown> => (JSON.parse((await gateway!.inject('/a')).payload) as { got: unknown }).got;

  it('are filled in where a configuration refers to them, also within a text', async () => {
    store.set('kv/x', { token: 's3cr3t-token' });
    await start(config('Bearer ${acme:kv/x#token}'));
    equal(await got(), 'Bearer s3cr3t-token');
    deepEqual(store.fetched, ['kv/x']);
  });

  it('stay references in everything that shows the configuration', async () => {
    store.set('kv/x', { token: 's3cr3t-token' });
    await start(config('${acme:kv/x#token}'));
    const shown = JSON.stringify([gateway!.config, gateway!.serving.snapshot.text, gateway!.revisions.list()]);
    ok(!shown.includes('s3cr3t-token') && shown.includes('${acme:kv/x#token}'), shown);
  });

  it('do not affect the fingerprint that is shown', async () => {
    store.set('kv/x', { token: 'one-secret' });
    await start(config('${acme:kv/x#token}'));
    const { hash } = gateway!.status;
    store.set('kv/x', { token: 'other-secret' });
    await gateway!.reload();
    deepEqual([await got(), gateway!.status.hash], ['other-secret', hash]);
  });

  it('do not change the fingerprint of a checked document, which equals that of the active one', async () => {
    store.set('kv/x', { token: 'one-secret' });
    const source = config('${acme:kv/x#token}');
    await start(source);
    const examined = await gateway!.examine({ source, data: source, document: null } as never, 'files', true);
    equal(await hashOfExamined(examined), gateway!.status.hash);
  });

  it('are fetched again at the interval of their store, and applied when they change', async () => {
    store.refreshMs = 20;
    store.set('kv/x', { token: 'one-secret' });
    await start(config('${acme:kv/x#token}'));
    store.set('kv/x', { token: 'other-secret' });
    await until(() => gateway!.status.revision === 2);
    equal(await got(), 'other-secret');
    const [attempt] = gateway!.attempts.list;
    deepEqual([attempt!.trigger, attempt!.result], ['secret', 'applied']);
    const [revision] = gateway!.revisions.list();
    deepEqual([revision!.source, revision!.message], ['secret', 'rotated secrets: acme:kv/x#token']);
    ok(
      sinks.lines.every((line) => !line.includes('-secret')),
      sinks.lines.join(''),
    );
  });

  it('keep their values while the store fails, also in a reload', async () => {
    store.refreshMs = 20;
    store.set('kv/x', { token: 'one-secret' });
    await start(config('${acme:kv/x#token}'));
    store.failure = new Error('the store is sealed');
    await until(() => gateway!.secrets.failing.length === 1);
    deepEqual(gateway!.secrets.failing, [{ secret: 'acme:kv/x', reason: 'the store is sealed' }]);
    const { result, issues } = await gateway!.reload(config('x${acme:kv/x#token}'));
    deepEqual([result, issues.map(({ code }) => code), await got()], ['applied', ['SECRET_FETCH'], 'xone-secret']);
    store.failure = null;
    await until(() => gateway!.secrets.failing.length === 0);
    equal(sinks.lines.filter((line) => line.includes('acme:kv/x is not available: the store is sealed')).length, 1);
  });

  it('that cannot be fetched prevent a start, with the place of the reference', async () => {
    store.failure = new Error('connection refused');
    const text = new ConfigText(JSON.stringify(config('${acme:kv/x#token}'), null, 2), 'json');
    await rejects(start(text), (error: Error & { issues: { code: string; line: number; message: string }[] }) => {
      const [issue] = error.issues;
      equal(issue!.code, 'SECRET_FETCH');
      equal(issue!.message, 'cannot fetch ${acme:kv/x#token}: connection refused');
      ok(issue!.line > 10);
      return true;
    });
  });

  it('are waited for at startup', async () => {
    store.startupMs = 20_000;
    store.failure = new Error('connection refused');
    const starting = start(config('${acme:kv/x#token}'));
    await until(() => store.fetched.length > 1);
    store.failure = null;
    store.set('kv/x', { token: 'late-secret' });
    await starting;
    equal(await got(), 'late-secret');
  });

  it('leave the serving configuration in place if a new one refers to an unavailable secret', async () => {
    store.set('kv/x', { token: 'one-secret' });
    await start(config('${acme:kv/x#token}'));
    await rejects(gateway!.reload(config('${acme:kv/y#token}')), /cannot fetch \$\{acme:kv\/y#token\}: no such secret/);
    equal(await got(), 'one-secret');
  });

  it('with a lease are renewed while the lease can be prolonged, and fetched when it ends', async () => {
    store.secrets.set('db/app', {
      content: { password: 'leased-1' },
      lease: { id: 'l1', lifeMs: 60, isRenewable: true },
    });
    await start(config('${acme:db/app#password}'));
    await until(() => store.renewals.length >= 2);
    equal(await got(), 'leased-1');
    equal(store.fetched.length, 1);
    store.secrets.set('db/app', {
      content: { password: 'leased-2' },
      lease: { id: 'l2', lifeMs: 60_000, isRenewable: true },
    });
    store.renewedMs = 5;
    await until(() => gateway!.status.revision === 2);
    equal(await got(), 'leased-2');
  });

  it('with a lease are issued anew when the token for their store is replaced', async () => {
    const lease = { id: 'l1', lifeMs: 3_600_000, isRenewable: true };
    store.secrets.set('db/app', { content: { password: 'leased-1' }, lease });
    const kept = [false, true];
    store.keepAlive = async () => {
      store.secrets.set('db/app', { content: { password: `leased-${store.fetched.length + 1}` }, lease });
      return { nextMs: kept.length > 1 ? 20 : Number.POSITIVE_INFINITY, endsLeases: kept.shift()! };
    };
    await start(config('${acme:db/app#password}'));
    await until(() => gateway!.status.revision === 2);
    equal(await got(), 'leased-2');
  });

  it('are reported if the token for their store cannot be renewed', async () => {
    store.set('s', 'a-value');
    store.keepAlive = async () => {
      throw new Error('the token has expired');
    };
    await start(config('${acme:s}'));
    await until(() => gateway!.secrets.failing.length === 1);
    deepEqual(gateway!.secrets.failing, [{ secret: 'acme', reason: 'the token has expired' }]);
  });

  it('with a lease are not issued anew by a reload', async () => {
    store.secrets.set('db/app', {
      content: { password: 'leased-1' },
      lease: { id: 'l1', lifeMs: 60_000, isRenewable: true },
    });
    await start(config('${acme:db/app#password}'));
    await gateway!.reload(config('x${acme:db/app#password}'));
    deepEqual([store.fetched.length, await got()], [1, 'xleased-1']);
  });

  it('are applied again after a pause if a rotation was rejected', async () => {
    store.refreshMs = 20;
    store.set('kv/x', { token: 'one-secret' });
    await start(config('${acme:kv/x#token}'));
    let rejects = true;
    const leave = gateway!.join({
      async prepare() {
        if (rejects) throw new Error('not now');
        return { commit: () => {}, abort: () => {} };
      },
    });
    store.set('kv/x', { token: 'other-secret' });
    store.refreshMs = 0;
    await until(() => gateway!.attempts.list[0]!.result === 'failed');
    const fetched = store.fetched.length;
    rejects = false;
    await until(async () => (await got()) === 'other-secret');
    equal(store.fetched.length, fetched);
    leave();
  });

  it('are replaced by the previous values when the guard rolls back a rotation', async () => {
    store.refreshMs = 20;
    store.set('kv/x', { token: 'one-secret' });
    await start(config('${acme:kv/x#token}'));
    const before = gateway!.serving;
    store.set('kv/x', { token: 'bad-secret' });
    await until(() => gateway!.status.revision === 2);
    const { text, format } = before.snapshot;
    await gateway!.apply({ trigger: 'guard', source: new ConfigText(text, format), secrets: before.secrets });
    equal(await got(), 'one-secret');
    const fetched = store.fetched.length;
    await until(() => store.fetched.length > fetched + 2);
    equal(await got(), 'one-secret');
    store.set('kv/x', { token: 'good-secret' });
    await until(async () => (await got()) === 'good-secret');
  });

  it('become numbers and booleans if their references end with that type', async () => {
    store.set('kv/x', { size: '4096', debug: 'true' });
    const fields = { max_header_bytes: '${acme:kv/x#size}!int', debug_endpoint: '${acme:kv/x#debug}!bool' };
    await start(config('$${acme:kv/x#size}!int ${acme:kv/x#size}!int', fields));
    equal(await got(), '${acme:kv/x#size}!int 4096!int');
    equal((await gateway!.inject('/__debug/')).statusCode, 200);
    const { max_header_bytes: size, debug_endpoint: debug } = gateway!.config as unknown as typeof fields;
    deepEqual([size, debug], [fields.max_header_bytes, fields.debug_endpoint]);
  });

  for (const [title, value, field, message] of [
    [
      'is no integer',
      'sixty',
      '${acme:s}!int',
      /SECRET_VALUE {2}the value of \$\{acme:s\} does not fit: it cannot be read as an integer/,
    ],
    [
      'is no boolean',
      'maybe',
      '${acme:s}!bool',
      /SECRET_VALUE {2}the value of \$\{acme:s\} does not fit: it cannot be read as a boolean/,
    ],
    [
      'is a text in a field for numbers',
      '60',
      '${acme:s}',
      /'max_header_bytes' must be an integer, found the value of \$\{acme:s\}/,
    ],
  ] as const) {
    it(`prevent a start with a value that ${title}`, async () => {
      store.set('s', value);
      await rejects(start(config('x', { max_header_bytes: field })), (error: Error) => {
        match(error.message, message);
        ok(!error.message.includes(`"${value}"`), error.message);
        return true;
      });
    });
  }

  it('leave the serving configuration in place if a rotated value does not have the type that its reference requires', async () => {
    store.refreshMs = 20;
    store.set('kv/x', { size: '4096' });
    await start(config('x', { max_header_bytes: '${acme:kv/x#size}!int' }));
    store.set('kv/x', { size: 'large' });
    await until(() => gateway!.attempts.list[0]?.result === 'failed');
    equal((await gateway!.inject('/a')).statusCode, 200);
  });

  it('that contain a reference are not resolved again', async () => {
    store.set('kv/x', { token: '${acme:kv/y#token}', __proto__: 'x' });
    await start(config('${acme:kv/x#token}'));
    equal(await got(), '${acme:kv/y#token}');
    deepEqual(store.fetched, ['kv/x']);
  });

  it('are not fetched for an escaped reference, a comment, or an unknown scheme', async () => {
    await start(config('$${acme:kv/x#token} ${unknown:kv/x}', { _comment: '${acme:kv/x#token}' }));
    equal(await got(), '${acme:kv/x#token} ${unknown:kv/x}');
    deepEqual(store.fetched, []);
  });

  it('can have fields with the names of Object.prototype members', async () => {
    store.secrets.set('kv/x', { content: JSON.parse('{"__proto__": "proto-value"}') as DataObject });
    await start(config('${acme:kv/x#__proto__}'));
    equal(await got(), 'proto-value');
    await rejects(gateway!.reload(config('${acme:kv/x#constructor}')), /it has no field "constructor"/);
  });

  for (const [title, content, reference, message] of [
    ['a missing field', { a: 'x' }, '${acme:s#b}', 'it has no field "b"'],
    [
      'several fields without a key',
      { a: 'x', b: 'y' },
      '${acme:s}',
      'it has several fields: add "#" and the name of one',
    ],
    ['a key of a plain text', 'text', '${acme:s#b}', 'it has no fields: remove "#b"'],
    ['a field that is null', { b: null }, '${acme:s#b}', 'the field is null'],
    ['a value that is too long', 'x'.repeat(65_537), '${acme:s}', 'the value is longer than 65536 characters'],
  ] as const) {
    it(`are rejected with an error: ${title}`, async () => {
      store.set('s', content as never);
      await rejects(start(config(reference)), (error: Error) => error.message.includes(message));
    });
  }

  it('cannot be used in the settings of their store', async () => {
    const extra = { 'acme/store': { address: '${acme:s#address}' } };
    await rejects(start(config('${acme:s#b}', { extra_config: extra })), /SECRET_CYCLE/);
  });

  it('are limited to 1,000 references', async () => {
    store.set('s', 'x');
    const many = { tags: Array.from({ length: 1001 }, () => '${acme:s}') };
    await rejects(start(config('x', many)), /SECRET_LIMIT {2}more than 1000 references to secrets/);
  });

  it('are fetched eight at a time, and each once', async () => {
    let active = 0;
    let most = 0;
    store.fetch = async (name) => {
      store.fetched.push(name);
      most = Math.max(most, ++active);
      await new Promise((resolve) => setImmediate(resolve));
      active--;
      return { content: `value of ${name}` };
    };
    const keys = Array.from({ length: 40 }, (_, index) => `\${acme:s${index % 20}}`);
    await start(config(keys.join(' ')));
    deepEqual([most, store.fetched.length, new Set(store.fetched).size], [8, 20, 20]);
  });

  it('are masked in errors about their values', async () => {
    store.set('s', 'not-a-duration');
    await rejects(start(config('x', { timeout: '${acme:s}' })), (error: Error) => {
      match(error.message, /timeout/);
      ok(!error.message.includes('not-a-duration'), error.message);
      return true;
    });
  });

  it('are masked in lines of components in the application log', async () => {
    store.set('s', 'http://user:the-password@127.0.0.1:9');
    store.set('t', 'logged-secret');
    await start(config('${acme:s} ${acme:t}'));
    gateway!.log.at('[TEST]').error('cannot use logged-secret');
    ok(sinks.lines.at(-1)!.includes('[TEST] cannot use ***'), sinks.lines.at(-1));
  });

  it('are replaced by placeholders in a check, which reports no errors about them', async () => {
    await start(config('x'));
    const source = config('${acme:s}', { timeout: '${acme:s}' });
    const snapshot = { source, data: source, document: null } as never;
    const { warnings } = await gateway!.examine(snapshot, 'closed');
    deepEqual([warnings, store.fetched], [[], []]);
  });

  it('do not make a dry run fail', async () => {
    await start(config('x'));
    store.failure = new Error('connection refused');
    const { result, issues } = await gateway!.apply({ trigger: 'api', source: config('${acme:s}'), dryRun: true });
    deepEqual([result, issues.map(({ code }) => code)], ['dry_run', ['SECRET_FETCH']]);
  });
});
