import { deepEqual, equal, ok } from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import {
  type AtEndpoint,
  after as afterwards,
  ByteStream,
  before as beforehand,
  Call,
  CallError,
  type ClientRequest,
  HeaderBag,
  type PipeRequest,
  Reply,
  RequestBody,
  type Wrap,
} from '#contract';
import type { Gateway } from '../../../kernel/index.ts';
import { enterPipe } from '../../../kernel/pipeline/compile/route.ts';
import { foldSettled } from '../../../kernel/pipeline/steps/settle.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startPlugged } from '../../support/plugged.ts';
import { ask } from '../server/ask.ts';

const never = (): Promise<never> => new Promise(() => {});

describe('composed stages with error handling', () => {
  const request = {} as ClientRequest;
  /** A stage that adds its name to every reply. */
  const mark = (name: string): Wrap<ClientRequest> => afterwards((reply) => reply.headers.append('x', name));
  const marks = (reply: Reply): string[] => reply.headers.getAll('x');
  const hang: Wrap<ClientRequest> = beforehand(never);
  const fail =
    (how: () => Reply | Promise<Reply>): Wrap<ClientRequest> =>
    () =>
      how;

  it('respond synchronously if all inner stages do', () => {
    const handle = foldSettled([mark('a')], () => new Reply(200));
    const reply = handle(request, new Call());
    ok(reply instanceof Reply);
    deepEqual(marks(reply), ['a']);
  });

  for (const [name, how] of [
    [
      'throws',
      () => {
        throw new CallError('TEST', 'broken', { view: { status: 418 } });
      },
    ],
    ['returns a rejected promise', () => Promise.reject(new CallError('TEST', 'broken', { view: { status: 418 } }))],
  ] as const) {
    it(`receive a reply even if an inner stage ${name}`, async () => {
      const stages = [mark('a'), mark('b'), fail(how), mark('c')];
      const reply = await foldSettled(stages, () => new Reply(200))(request, new Call());
      deepEqual([reply.status, reply.errors[0]!.code, marks(reply)], [418, 'TEST', ['b', 'a']]);
    });
  }

  it('pass the same reply to one stage after another, even if a hook waits', async () => {
    const slow = afterwards<ClientRequest>(async (reply) => {
      await turn();
      reply.headers.append('x', 'slow');
    });
    const first = new Reply(200);
    const reply = await foldSettled([mark('a'), slow, mark('b')], () => first)(request, new Call());
    deepEqual([reply === first, marks(reply)], [true, ['b', 'slow', 'a']]);
  });

  it('cancel the body of a reply if a hook throws', async () => {
    const reported: string[] = [];
    const body = new ByteStream({ cancel: (reason) => void reported.push(reason.message) });
    const broken = afterwards<ClientRequest>(() => {
      throw new CallError('TEST', 'broken');
    });
    const handle = foldSettled([broken], () => Reply.raw(200, new HeaderBag(), body));
    equal((await handle(request, new Call())).errors[0]!.code, 'TEST');
    deepEqual(reported, ['context canceled']);
  });

  for (const [name, stages, passed] of [
    ['the innermost step', [mark('a'), mark('b')], ['b', 'a']],
    ['a stage in the middle', [mark('a'), mark('b'), hang, mark('c')], ['b', 'a']],
    ['the outermost stage', [hang, mark('a')], []],
  ] as const) {
    it(`respond when the call is canceled while ${name} hangs`, async () => {
      const call = new Call();
      const reply = foldSettled(stages, never)(request, call);
      call.cancel(new CallError('TEST', 'given up', { view: { status: 503 } }));
      const { status, headers } = await reply;
      deepEqual([status, headers.getAll('x')], [503, passed]);
    });
  }

  it('use the reply of a step that handles the cancellation on its own', async () => {
    const call = new Call();
    const heeds = (): Promise<Reply> => new Promise((resolve) => call.onCancel(() => resolve(new Reply(204))));
    const reply = foldSettled([mark('a')], heeds)(request, call);
    call.cancel();
    const { status, headers } = await reply;
    deepEqual([status, headers.getAll('x')], [204, ['a']]);
  });

  it('cancel the bytes of a late reply', async () => {
    const call = new Call();
    const late = Promise.withResolvers<Reply>();
    const reply = foldSettled([], () => late.promise)(request, call);
    call.cancel();
    equal((await reply).failed, true);
    let given = 0;
    late.resolve(Reply.raw(200, new HeaderBag(), new ByteStream({ cancel: () => given++ })));
    await turn();
    equal(given, 1);
  });

  it('keep forwarding the bytes of a reply that arrived before the cancellation', async () => {
    const call = new Call();
    let given = 0;
    const stream = new ByteStream({ cancel: () => given++ });
    const reply = await foldSettled([], async () => Reply.raw(200, new HeaderBag(), stream))(request, call);
    equal(reply.body, stream);
    call.cancel();
    await turn();
    equal(given, 0);
  });
});

describe('a pipeline that handles the cancellation of its call', () => {
  const toPipe = (client: ClientRequest) => ({ client }) as unknown as PipeRequest;
  const given = new CallError('TEST', 'given up', { view: { status: 503 } });

  it('is awaited, regardless of the outcome of its call', async () => {
    const call = new Call();
    const heeds = (): Promise<Reply> =>
      new Promise((resolve) => call.onCancel(() => setImmediate(resolve, new Reply(204))));
    const reply = enterPipe(toPipe, heeds, true)({ body: null } as ClientRequest, call);
    call.cancel(given);
    await turn();
    deepEqual([(await reply).status, (await reply).complete], [204, false]);
  });

  it('is not awaited if the request has a body, which may never end', async () => {
    const call = new Call();
    const reply = enterPipe(toPipe, never, true)({ body: RequestBody.of('a') } as ClientRequest, call);
    call.cancel(given);
    equal((await reply).status, 503);
  });

  it('returns a reply for thrown errors and rejected promises', async () => {
    for (const pipe of [
      () => {
        throw given;
      },
      () => Promise.reject(given),
    ]) {
      const { status, complete } = await enterPipe(toPipe, pipe, true)({ body: null } as ClientRequest, new Call());
      deepEqual([status, complete], [503, false]);
    }
  });
});

describe('headers that a stage around an endpoint sets', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;

  const acts: Record<string, AtEndpoint> = {
    throws: {
      endpoint: beforehand(() => {
        throw new Error('broken');
      }),
    },
    rejects: { endpoint: beforehand(() => Promise.reject(new Error('broken'))) },
    hangs: { endpoint: beforehand(never) },
    hangsInside: { proxy: beforehand(never) },
    unwritable: { proxy: () => () => Reply.data({ number: 1n as never }) },
  };

  before(async () => {
    backend = await startBackend((seen, response) => {
      if (seen.target !== '/hang') json({})(seen, response);
    });
    const guarded = { 'security/http': { frame_deny: true } };
    const endpoint = (name: string, targets: string[], extra: object = {}): object => ({
      endpoint: `/${name}`,
      backend: targets.map((target) => ({ url_pattern: target })),
      extra_config: { ...guarded, ...extra },
    });
    const late = (name: string, ...of: [string[], object?]): object => ({ ...endpoint(name, ...of), timeout: '50ms' });
    gateway = await startPlugged(
      {
        host: [backend.url],
        endpoints: [
          late('one', ['/hang']),
          late('two', ['/hang', '/hang']),
          { ...late('raw', ['/hang']), output_encoding: 'no-op' },
          { ...endpoint('small', ['/'], { proxy: { max_payload: 1 } }), method: 'POST' },
          ...Object.keys(acts).map((act) => (act.startsWith('hangs') ? late : endpoint)(act, ['/'], { test: { act } })),
        ],
      },
      { endpoint: acts },
    );
    ({ port } = await gateway.listen());
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  for (const [name, line] of [
    ['whose backend is late', 'GET /one'],
    ['whose backends are all late', 'GET /two'],
    ['whose bytes are late', 'GET /raw'],
    ['in which something throws', 'GET /throws'],
    ['in which a promise is rejected', 'GET /rejects'],
    ['in which a stage ignores the deadline', 'GET /hangs'],
    ['in whose pipe a stage ignores the deadline', 'GET /hangsInside'],
    ['whose response cannot be written', 'GET /unwritable'],
  ] as const) {
    it(`are in the response of an endpoint ${name}`, async () => {
      const { status, headers } = await ask(port, line);
      deepEqual([status, headers['x-frame-options'], headers['x-gateway-completed']], [500, 'DENY', 'false']);
    });
  }

  it('are in the rejection of a body that is too large', async () => {
    const { status, headers } = await ask(port, 'POST /small', { body: 'large' });
    deepEqual([status, headers['x-frame-options']], [413, 'DENY']);
  });
});
