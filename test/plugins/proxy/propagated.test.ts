import { deepEqual, equal } from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { BackendError, ByteStream, HeaderBag, type PipeRequest, Reply, type Services, type Step } from '#contract';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { plugin } from '../../../plugins/proxy/index.ts';
import { openHarness } from '../../support/harness.ts';
import { backendConfig, messages, noting, over, refusal, responses, skipped } from './around.ts';

type Backend = Step<PipeRequest>;

const harness = (backends: readonly Backend[], propagated: readonly string[] = [], raw: readonly number[] = []) =>
  openHarness(
    plugin,
    'endpoint',
    { sequential: true, ...(propagated.length > 0 && { sequential_propagated_params: propagated }) },
    over(
      backends,
      backends.map((_, at) => (raw.includes(at) ? { encoding: 'no-op' } : {})),
    ),
  );

describe('the sequential_propagated_params setting of proxy', () => {
  it('provides values to every later backend, with the first letter capitalized', async () => {
    const seen: PipeRequest[] = [];
    const backends = [responses('{"user":{"id":7}}'), responses('{"t":"x"}'), responses('{}')];
    const gate = await harness(
      backends.map((backend) => noting(seen, backend)),
      ['resp0_user.id', 'resp1_t'],
    );
    await gate.send({ params: { Id: '1' } });
    deepEqual(
      seen.map(({ params }) => params),
      [{ Id: '1' }, { Id: '1', 'Resp0_user.id': '7' }, { Id: '1', 'Resp0_user.id': '7', Resp1_t: 'x' }],
    );
  });

  it('converts values to strings', async () => {
    const seen: PipeRequest[] = [];
    const first = '{"s":"a/b","n":12345678901234567890,"b":true,"l":[1,"x"],"e":[],"z":null,"o":{"k":[1]}}';
    const names = ['s', 'n', 'b', 'l', 'e', 'z', 'o'].map((field) => `resp0_${field}`);
    await (await harness([responses(first), noting(seen, responses('{}'))], names)).send('GET /');
    deepEqual(seen[0]!.params, {
      Resp0_s: 'a/b',
      Resp0_n: '12345678901234567890',
      Resp0_b: 'true',
      Resp0_l: '1,x',
      Resp0_e: '',
      Resp0_z: '<nil>',
      Resp0_o: '{"k":[1]}',
    });
  });

  it('does not descend into arrays', async () => {
    const seen: PipeRequest[] = [];
    await (await harness([responses('{"l":[{"a":1}]}'), noting(seen, responses('{}'))], ['resp0_l.0.a'])).send('GET /');
    deepEqual(seen[0]!.params, { 'Resp0_l.0.a': '' });
  });

  it('provides an empty string, with a warning, if the field is absent', async () => {
    const warnings: unknown[] = [];
    const log = { ...silentLog, warning: (message: unknown) => warnings.push(message) };
    const seen: PipeRequest[] = [];
    const around = {
      ...over([responses('{}'), noting(seen, responses('{}'))]),
      services: { log } as unknown as Services,
    };
    const config = { sequential: true, sequential_propagated_params: ['resp0_user.id'] };
    await (await openHarness(plugin, 'endpoint', config, around)).send('GET /');
    equal(seen[0]!.params['Resp0_user.id'], '');
    deepEqual(warnings, ['[Merge] no field user.id in the response: Resp0_user.id is empty']);
  });

  it('provides empty strings without a warning for a skipped backend', async () => {
    const warnings: unknown[] = [];
    const log = { ...silentLog, warning: (message: unknown) => warnings.push(message) };
    const seen: PipeRequest[] = [];
    const around = { ...over([skipped, noting(seen, responses('{}'))]), services: { log } as unknown as Services };
    const config = { sequential: true, sequential_propagated_params: ['resp0_id'] };
    await (await openHarness(plugin, 'endpoint', config, around)).send('GET /');
    equal(seen[0]!.params['Resp0_id'], '');
    equal(warnings.length, 0);
  });

  it('treats keys such as __proto__ as plain data', async () => {
    const seen: PipeRequest[] = [];
    const backends = [responses('{"__proto__":{"x":1}}'), noting(seen, responses('{}'))];
    await (await harness(backends, ['resp0_constructor', 'resp0___proto__.x'])).send('GET /');
    deepEqual(seen[0]!.params, { Resp0_constructor: '', 'Resp0___proto__.x': '1' });
  });

  it("does not add the values to the client's request", async () => {
    const params = {};
    await (await harness([responses('{"a":1}'), responses('{}')], ['resp0_a'])).send({ params });
    deepEqual(params, {});
  });

  describe('with a no-op backend', () => {
    const raw = (body: Uint8Array | ByteStream | null, status = 200, headers = new HeaderBag()): Backend => {
      return () => {
        const reply = Reply.raw(status, headers, body);
        reply.data = {};
        return reply;
      };
    };

    it('provides the whole body as a string', async () => {
      const seen: PipeRequest[] = [];
      const backends = [raw(Buffer.from('whole é')), noting(seen, responses('{"b":1}'))];
      const reply = await (await harness(backends, ['resp0'], [0])).send('GET /');
      deepEqual(seen[0]!.params, { Resp0: 'whole é' });
      deepEqual(reply.data, { b: 1 });
      equal(reply.complete, true);
    });

    it('waits for the rest of the body', async () => {
      const seen: PipeRequest[] = [];
      const stream = new ByteStream();
      setImmediate(() => {
        stream.write(Buffer.from('in '));
        stream.write(Buffer.from('pieces'));
        stream.end();
      });
      await (await harness([raw(stream), noting(seen, responses('{}'))], ['resp0'], [0])).send('GET /');
      deepEqual(seen[0]!.params, { Resp0: 'in pieces' });
    });

    it('decompresses a gzip body', async () => {
      const seen: PipeRequest[] = [];
      const zipped = raw(gzipSync('text'), 200, new HeaderBag(['Content-Encoding', 'gzip']));
      await (await harness([zipped, noting(seen, responses('{}'))], ['resp0'], [0])).send('GET /');
      deepEqual(seen[0]!.params, { Resp0: 'text' });
    });

    it('fails for a body that is declared as gzip but is not', async () => {
      const broken = raw(Buffer.from('plain'), 200, new HeaderBag(['Content-Encoding', 'gzip']));
      const reply = await (await harness([broken, responses('{}')], ['resp0'], [0])).send('GET /');
      equal(reply.errors[0]!.code, 'BACKEND_GZIP');
    });

    it('fails for an incomplete body', async () => {
      const stream = new ByteStream();
      setImmediate(() => stream.fail(new BackendError('BACKEND_RESET', 'reset')));
      const reply = await (await harness([raw(stream), responses('{}')], ['resp0'], [0])).send('GET /');
      deepEqual(messages(reply), ['reset']);
    });

    it('continues with any status, with or without a body', async () => {
      for (const first of [raw(Buffer.from('nope'), 404), raw(null, 204)]) {
        const reply = await (await harness([first, responses('{"b":1}')], [], [0])).send('GET /');
        deepEqual(reply.data, { b: 1 });
      }
    });

    it('does not wait for an unused body', async () => {
      let gone = false;
      const stream = new ByteStream({
        cancel: () => {
          gone = true;
        },
      });
      const reply = await (await harness([raw(stream), responses('{"b":1}')], [], [0])).send('GET /');
      deepEqual(reply.data, { b: 1 });
      stream.write(new Uint8Array(1024 * 1024));
      equal(gone, true);
    });
  });

  describe('in the configuration check', () => {
    const refused = (config: unknown, ...encodings: readonly string[]) =>
      refusal(
        openHarness(plugin, 'endpoint', config, {
          endpoint: { backend: encodings.map((encoding) => backendConfig({ encoding })) },
        }),
      );
    const propagating = (...names: readonly string[]) => ({ sequential: true, sequential_propagated_params: names });

    it('rejects parameters without "sequential"', async () => {
      deepEqual(await refused({ sequential_propagated_params: ['resp0_id'] }, 'json', 'json'), [
        '/sequential_propagated_params PROXY_PROPAGATED',
      ]);
    });

    it('rejects a backend index that does not exist', async () => {
      deepEqual(await refused(propagating('resp0_id', 'resp2_id'), 'json', 'json'), [
        '/sequential_propagated_params/1 PROXY_PROPAGATED',
      ]);
    });

    it('rejects the body of a decoded backend, and a field of a no-op backend', async () => {
      deepEqual(await refused(propagating('resp0'), 'json', 'json'), [
        '/sequential_propagated_params/0 PROXY_PROPAGATED',
      ]);
      deepEqual(await refused(propagating('resp0_id'), 'no-op', 'json'), [
        '/sequential_propagated_params/0 PROXY_PROPAGATED',
      ]);
      deepEqual(await refused(propagating('resp0'), 'no-op', 'json'), []);
    });

    it('rejects malformed names', async () => {
      for (const name of ['id', 'resp_id', 'respX_id', 'resp0_', 'resp0_a b', 'Resp0_a']) {
        equal((await refused(propagating(name), 'json', 'json')).length, 1, name);
      }
    });

    it('does not count shadow backends', async () => {
      const shadow = backendConfig({ extra_config: { proxy: { shadow: true } } });
      const endpoint = { backend: [shadow, backendConfig({ encoding: 'no-op' }), backendConfig()] };
      deepEqual(await refusal(openHarness(plugin, 'endpoint', propagating('resp0'), { endpoint })), []);
      deepEqual(await refusal(openHarness(plugin, 'endpoint', propagating('resp2_a'), { endpoint })), [
        '/sequential_propagated_params/0 PROXY_PROPAGATED',
      ]);
    });

    it('warns about a parameter that no later backend can read', async () => {
      const gate = await openHarness(
        plugin,
        'endpoint',
        propagating('resp1_id'),
        over([responses('{}'), responses('{}')]),
      );
      deepEqual(
        gate.warnings.map(({ pointer, code }) => `${pointer} ${code}`),
        ['/sequential_propagated_params/0 PROXY_IDLE'],
      );
    });

    it('warns about a single backend and about the no-op encoding', async () => {
      for (const endpoint of [
        { backend: [backendConfig()] },
        { backend: [backendConfig(), backendConfig()], output_encoding: 'no-op' },
      ]) {
        const gate = await openHarness(plugin, 'endpoint', { sequential: true }, { endpoint });
        equal(gate.attached.gather, undefined);
        deepEqual(
          gate.warnings.map(({ pointer, code }) => `${pointer} ${code}`),
          ['/sequential PROXY_IDLE'],
        );
      }
    });
  });
});
