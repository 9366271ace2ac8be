import { deepEqual, equal } from 'node:assert/strict';
import { type AgentSite, atAgent, atBackend, definePlugin, type PipeRequest, Reply } from '#contract';
import type { ConfigErrors } from '../../../kernel/contract/internal.ts';
import type { Gateway } from '../../../kernel/index.ts';
import { rememberingSinks } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

type Run = AgentSite<unknown>['run'];

describe('the pipeline of an async agent', () => {
  let gateway: Gateway | undefined;
  let run!: Run;
  let seen: PipeRequest[];
  let respond: (call: {
    readonly signal: AbortSignal;
    readonly log: { warning(line: string): void };
  }) => Reply | Promise<Reply>;

  const schema = { type: 'object', properties: {} } as const;
  const driver = (name: string) =>
    definePlugin({
      name,
      description: 'Hands its run to the test.',
      places: [
        atAgent(schema, (site) => {
          run = site.run;
        }),
      ],
    });
  const protocol = definePlugin({
    name: 'test/protocol',
    description: 'Answers as the test says.',
    places: [
      atBackend(schema, () => ({
        protocol: {
          hostless: true,
          call: (request, call) => {
            seen.push(request);
            return respond(call);
          },
        },
      })),
    ],
  });
  const { sinks, lines } = (() => {
    const made = rememberingSinks();
    return { sinks: made, lines: made.lines };
  })();

  const start = async (agent: object = {}) => {
    const config = {
      endpoints: [],
      async_agent: [
        {
          name: 'mail',
          consumer: { topic: 't' },
          extra_config: { 'test/driver': {} },
          backend: [{ url_pattern: '/', extra_config: { 'test/protocol': {} } }],
          ...agent,
        },
      ],
    };
    gateway = await startWith([driver('test/driver'), driver('test/other'), protocol], config, { sinks, debug: true });
  };

  beforeEach(() => {
    seen = [];
    respond = () => Reply.data({ a: 1 });
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const codes = (reply: Reply) => reply.errors.map(({ code }) => code);
  const body = Buffer.from('x');

  it('receives a GET request for / with the message as its body and no headers', async () => {
    await start();
    const reply = await run({ body });
    const [{ client }] = seen as [PipeRequest];
    deepEqual([reply.data, client.method, client.path, [...client.headers]], [{ a: 1 }, 'GET', '/', []]);
    equal(String(await client.body!.bytes()), 'x');
  });

  it('logs under the name of its agent', async () => {
    respond = ({ log }) => {
      log.warning('seen');
      return Reply.data({});
    };
    await start();
    await run({ body });
    equal(
      lines.some((line) => line.includes('[SERVICE: AsyncAgent][mail] seen')),
      true,
    );
  });

  it('returns a failure for anything thrown in it', async () => {
    respond = () => {
      throw new Error('oops');
    };
    await start();
    deepEqual(codes(await run({ body })), ['GATEWAY_FAULT']);
  });

  it('does not run for a message that has already been canceled', async () => {
    await start();
    deepEqual(codes(await run({ body }, AbortSignal.abort())), ['CALL_CANCELLED']);
    equal(seen.length, 0);
  });

  it('is canceled with its message, but not after it has finished', async () => {
    const signals: AbortSignal[] = [];
    const giving = new AbortController();
    respond = ({ signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    };
    await start();
    const running = run({ body }, giving.signal);
    giving.abort();
    deepEqual([codes(await running), signals[0]!.aborted], [['CALL_CANCELLED'], true]);
    const later = new AbortController();
    respond = ({ signal }) => {
      signals.push(signal);
      return Reply.data({});
    };
    await run({ body }, later.signal);
    later.abort();
    equal(signals[1]!.aborted, false);
  });

  const issues = (agent: object) =>
    start(agent).then(
      () => [],
      ({ errors }: ConfigErrors) => errors.map(({ code, message, related }) => [code, message, related]),
    );

  it('requires exactly one driver', async () => {
    const at = '/async_agent/0/extra_config';
    deepEqual(await issues({ extra_config: {} }), [
      ['AGENT_DRIVER', 'an agent must have exactly one driver, found none', []],
    ]);
    deepEqual(await issues({ extra_config: { 'test/driver': {}, 'test/other': {} } }), [
      ['AGENT_DRIVER', 'an agent must have exactly one driver, found 2', [`${at}/test~1driver`, `${at}/test~1other`]],
    ]);
  });
});
