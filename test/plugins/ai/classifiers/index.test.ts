import { deepEqual, equal, rejects } from 'node:assert/strict';
import {
  Call,
  claimsSlot,
  type DataObject,
  HeaderBag,
  makeRequest,
  PipeRequest,
  Query,
  Reply,
  RequestBody,
} from '#contract';
import { type Harness, type HarnessOptions, openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/ai/classifiers/index.ts';
import type { Classifiers } from '../../../../plugins/ai/lib/classifiers.ts';
import { countingMeter } from '../../../support/counting.ts';
import { findingsOf } from '../../auth/fixture.ts';

const credentials = 'nd-key';
const candidates = [
  { name: 'fast', vendor: 'openai', model: 'gpt-small' },
  { name: 'wise', vendor: 'gemini', model: 'gemini-large' },
];

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly data: DataObject;
}

describe('ai/classifiers:', () => {
  let harness: Harness | undefined;
  let sent: Sent[];
  let answer: { status: number; data: unknown };

  beforeEach(() => {
    sent = [];
    answer = { status: 200, data: {} };
  });
  afterEach(async () => {
    const counts = await harness?.close();
    harness = undefined;
    if (counts) deepEqual(counts, { kept: 0, deferred: 0 });
  });

  const open = async (config: object, options: HarnessOptions = {}): Promise<Classifiers> => {
    const next = async (request: PipeRequest) => {
      const bytes = await request.body!.bytes();
      const authorization = request.headers.get('authorization');
      const data = JSON.parse(Buffer.from(bytes).toString());
      sent.push({ method: request.method, url: request.origin + request.target, authorization, data });
      return Reply.raw(answer.status, new HeaderBag(), Buffer.from(JSON.stringify(answer.data)));
    };
    harness = await openHarness(plugin, 'service', config, { next, ...options });
    return harness.attached.offers![0]!.value as Classifiers;
  };

  function requestOf(headers: readonly string[], body?: unknown, query = ''): PipeRequest {
    const bytes = body === undefined ? null : RequestBody.of(typeof body === 'string' ? body : JSON.stringify(body));
    const client = makeRequest({ method: 'POST', path: '/chat' });
    return new PipeRequest(client, { Id: '7' }, Query.parse(query), new HeaderBag([...headers]), bytes);
  }

  const choose = async (all: Classifiers, body?: unknown, headers: string[] = [], call: Call = new Call()) => {
    const request = requestOf(headers, body, 'topic=law');
    const bytes = request.body ? await request.body.bytes() : undefined;
    return (await all.classifiers.get('smart')!.choose(candidates, request, bytes, call)).name;
  };
  const notDiamond = (more: object = {}) => ({
    classifiers: [{ name: 'smart', engine: 'notdiamond', notdiamond: { credentials, ...more } }],
  });
  const own = (more: object = {}) => ({
    classifiers: [{ name: 'smart', engine: 'http', http: { url: 'https://own.test/choose?x=1', ...more } }],
  });
  const chosen = { providers: [{ provider: 'google', model: 'gemini-large' }], session_id: '1' };

  describe('gates', () => {
    const passes = async (gate: object, request: PipeRequest, call = new Call()) => {
      const { gates } = await open({ gates: [{ name: 'g', ...gate }] });
      const body = request.body ? await request.body.bytes() : undefined;
      return gates.get('g')!.passes(request, body, call);
    };
    const plan = { rule: 'header', header: { name: 'X-Plan', value: 'gold' } };

    it('pass requests with the value of the header', async () => {
      equal(await passes(plan, requestOf(['x-plan', 'gold'])), true);
    });

    it('do not pass requests with another value, or without the header', async () => {
      equal(await passes(plan, requestOf(['X-Plan', 'Gold'])), false);
      await harness!.close();
      equal(await passes(plan, requestOf([])), false);
    });

    it('pass requests for which the policy is true, by headers, body and claims', async () => {
      const value = "getHeader('X-Plan') == 'gold' && req_body.contains('law') && JWT.sub == 'me'";
      const call = new Call();
      call.set(claimsSlot, { sub: 'me' });
      equal(await passes({ rule: 'policy', policy: { value } }, requestOf(['X-Plan', 'gold'], 'law'), call), true);
    });

    it('do not pass requests for which the policy fails', async () => {
      equal(await passes({ rule: 'policy', policy: { value: "JWT.sub == 'me'" } }, requestOf([])), false);
    });

    it('declare whether they need the request body', async () => {
      const { gates } = await open({
        gates: [
          { name: 'body', rule: 'policy', policy: { value: 'size(req_body) > 10' } },
          { name: 'header', ...plan },
        ],
      });
      deepEqual(
        [...gates].map(([name, { readsBody, inWords }]) => [name, readsBody, inWords]),
        [
          ['body', true, 'size(req_body) > 10'],
          ['header', false, 'header X-Plan = "gold"'],
        ],
      );
    });
  });

  describe('the engine notdiamond', () => {
    it('sends messages, models and preferences to the model selection', async () => {
      answer.data = chosen;
      const messages = [{ role: 'user', content: 'Is this legal?' }];
      equal(await choose(await open(notDiamond()), { messages }), 'wise');
      deepEqual(sent, [
        {
          method: 'POST',
          url: 'https://api.notdiamond.ai/v2/modelRouter/modelSelect',
          authorization: 'Bearer nd-key',
          data: {
            messages,
            llm_providers: [
              { provider: 'openai', model: 'gpt-small' },
              { provider: 'google', model: 'gemini-large' },
            ],
            metric: 'accuracy',
            hash_content: true,
            tradeoff: 'cost',
          },
        },
      ]);
    });

    it('sends the configured preferences instead of the defaults', async () => {
      answer.data = chosen;
      const settings = { base_url: 'https://nd.test/', cost_quality_tradeoff: 3, disable_hash_content: true };
      await choose(await open(notDiamond(settings)), { messages: [{ role: 'user', content: 'a' }] });
      const { data, url } = sent[0]!;
      deepEqual(
        [url, data['hash_content'], data['cost_quality_tradeoff'], 'tradeoff' in data],
        ['https://nd.test/v2/modelRouter/modelSelect', false, 3, false],
      );
    });

    for (const [req_content, body, messages] of [
      ['req_body.chat.turns', { chat: { turns: [{ role: 'user', text: 'a' }] } }, [{ role: 'user', content: 'a' }]],
      ['req_body.chat.turns.0.text', { chat: { turns: [{ text: 'b' }] } }, [{ role: 'user', content: 'b' }]],
      ['req_body', 'plain', [{ role: 'user', content: 'plain' }]],
      ['req_body', { a: 1 }, [{ role: 'user', content: '{"a":1}' }]],
      ['req_params.Id', {}, [{ role: 'user', content: '7' }]],
      ['req_query_string.topic', {}, [{ role: 'user', content: 'law' }]],
      ['req_headers.X-Topic', {}, [{ role: 'user', content: 'tax' }]],
    ] as const) {
      it(`sends ${req_content} of ${JSON.stringify(body)} as messages`, async () => {
        answer.data = chosen;
        await choose(await open(notDiamond({ req_content })), body, ['x-topic', 'tax']);
        deepEqual(sent[0]!.data['messages'], messages);
      });
    }
  });

  describe('the engine http', () => {
    it('sends the content and the providers, and uses the provider that the server names', async () => {
      answer.data = { provider: 'wise' };
      const all = await open(own({ credentials: 'secret', req_content: 'req_body.prompt' }));
      equal(await choose(all, { prompt: 'hello' }), 'wise');
      deepEqual(sent[0], {
        method: 'POST',
        url: 'https://own.test/choose?x=1',
        authorization: 'Bearer secret',
        data: { content: 'hello', providers: candidates },
      });
    });
  });

  describe('classifiers', () => {
    for (const [what, status, data] of [
      ['another provider', 200, { provider: '__proto__' }],
      ['no provider', 200, []],
      ['status 500', 500, { provider: 'wise' }],
    ] as const) {
      it(`fail with CLASSIFIER_FAILED if the server responds with ${what}`, async () => {
        answer = { status, data };
        await rejects(choose(await open(own()), 'a'), { code: 'CLASSIFIER_FAILED' });
      });
    }

    it('fail with CLASSIFIER_FAILED after the timeout', async () => {
      const next = (_request: PipeRequest, call: Call) =>
        new Promise<Reply>((_resolve, reject) => call.onCancel(reject));
      await rejects(choose(await open(own({ timeout: '5ms' }), { next }), 'a'), { code: 'CLASSIFIER_FAILED' });
    });

    it('fail with the abort reason of the call if the client disconnects', async () => {
      const call = new Call();
      const next = (_request: PipeRequest, part: Call) => {
        queueMicrotask(() => call.cancel());
        return new Promise<Reply>((_resolve, reject) => part.onCancel(reject));
      };
      await rejects(choose(await open(own(), { next }), 'a', [], call), { name: 'CancelledError' });
    });

    it('count classifications by result', async () => {
      const { counts, offers } = countingMeter();
      answer.data = { provider: 'wise' };
      await choose(await open(own(), { offers }), 'a');
      deepEqual([...counts], [['classifier.choices', 1]]);
    });
  });

  describe('the configuration check', () => {
    const header = { name: 'A', value: 'b' };
    for (const [config, finding] of [
      [{ gates: [{ name: 'a', rule: 'header' }] }, 'CLASSIFIER_FIELD /gates/0'],
      [{ gates: [{ name: 'a', rule: 'policy', header, policy: { value: 'true' } }] }, 'CLASSIFIER_FIELD /gates/0'],
      [{ gates: [{ name: 'a', rule: 'policy', policy: { value: '1 +' } }] }, 'CEL_SYNTAX /gates/0/policy/value'],
      [{ gates: [1, 2].map(() => ({ name: 'a', rule: 'header', header })) }, 'CLASSIFIER_NAME /gates/1/name'],
      [{ classifiers: [{ name: 'a', engine: 'notdiamond' }] }, 'CLASSIFIER_FIELD /classifiers/0'],
      [notDiamond({ tradeoff: 'cost', cost_quality_tradeoff: 1 }), 'CLASSIFIER_FIELD /classifiers/0/notdiamond'],
      [notDiamond({ req_content: 'body.a' }), 'REQUEST_PART /classifiers/0/notdiamond/req_content'],
      [own({ req_content: 'req_headers' }), 'REQUEST_PART /classifiers/0/http/req_content'],
      [own({ url: 'ftp://a.test' }), 'AI_SERVER_ADDRESS /classifiers/0/http/url'],
      [own({ url: 'https://a:b@c.test' }), 'AI_SERVER_ADDRESS /classifiers/0/http/url'],
    ] as const) {
      it(`rejects ${JSON.stringify(config)}`, async () =>
        deepEqual(await findingsOf(openHarness(plugin, 'service', config)), [finding]));
    }

    it('warns of servers that receive prompts without TLS', async () => {
      await open(own({ url: 'http://own.test/' }));
      deepEqual(
        harness!.warnings.map(({ code }) => code),
        ['AI_SERVER_INSECURE'],
      );
    });
  });
});
