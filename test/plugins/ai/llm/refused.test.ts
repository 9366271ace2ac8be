import { deepEqual, ok } from 'node:assert/strict';
import { json } from '../../../support/gateway.ts';
import { models } from '../../../support/models.ts';
import { ModelTestbed, modelBackend } from './fixture.ts';

const model = { model: 'm' };
const streaming = { output_encoding: 'streaming' };

describe('the configuration of ai/llm', () => {
  let testbed: ModelTestbed;

  before(async () => {
    testbed = await ModelTestbed.open(json({}));
  });
  afterEach(() => testbed.closeGateways());
  after(() => testbed.close());

  const written = (config: object, endpoint: object = {}) =>
    testbed.issues(
      [{ host: [testbed.backend.url], url_pattern: '/v1', method: 'POST', extra_config: { 'ai/llm': config } }],
      {},
      endpoint,
    );
  const openai = (settings: object) => written({ openai: { v1: { credentials: 'k', variables: model, ...settings } } });

  it('is rejected if it has no vendor, two vendors or an unknown version', async () => {
    const whole = { v1: { credentials: 'k', variables: model } };
    ok((await written({})).length > 0);
    ok((await written({ openai: whole, mistral: whole })).length > 0);
    ok((await written({ openai: {} })).length > 0);
    ok((await written({ openai: { v2: whole.v1 } })).some((issue) => issue.endsWith(' /openai/v2')));
    ok((await written({ opnai: whole })).some((issue) => issue.endsWith(' /opnai')));
    deepEqual(await written({ openai: whole }), []);
  });

  it('is rejected if it has no credentials, no model, no variables, or unknown fields', async () => {
    deepEqual(await written({ openai: { v1: { variables: model } } }), ['SCHEMA_REQUIRED /openai/v1']);
    deepEqual(await openai({ variables: {} }), ['SCHEMA_REQUIRED /openai/v1/variables']);
    deepEqual(await written({ mistral: { v1: { credentials: 'k' } } }), ['SCHEMA_REQUIRED /mistral/v1']);
    deepEqual(await openai({ intruder: 1 }), ['SCHEMA_UNKNOWN_KEY /openai/v1/intruder']);
    deepEqual(await openai({ credentials: 'a b' }), ['SCHEMA_PATTERN /openai/v1/credentials']);
    deepEqual(await written({ gemini: { v1beta: { credentials: 'k' } } }), []);
  });

  it('is rejected if it has an unknown Bedrock variable, including "model"', async () => {
    const bedrock = (variables: object) => written({ bedrock: { v1: { credentials: 'k', variables } } });
    deepEqual(await bedrock({ model: 'x' }), ['SCHEMA_UNKNOWN_KEY /bedrock/v1/variables/model']);
    deepEqual(await bedrock({ foo: 1 }), ['SCHEMA_UNKNOWN_KEY /bedrock/v1/variables/foo']);
    deepEqual(await bedrock({}), []);
  });

  it('is rejected if it sets custom variables for Bedrock, which other vendors accept', async () => {
    for (const [vendor, version] of models) {
      if (vendor === 'bedrock') continue;
      deepEqual(
        await written({ [vendor]: { [version]: { credentials: 'k', variables: { ...model, foo: [1] } } } }),
        [],
      );
    }
  });

  it('is rejected if it has variables outside their ranges', async () => {
    const at = async (variables: object) =>
      (await openai({ variables: { ...model, ...variables } })).map((each) => each.split('/').pop());
    deepEqual(await at({ temperature: 2.1 }), ['temperature']);
    deepEqual(await at({ top_p: 1.5 }), ['top_p']);
    deepEqual(await at({ max_output_tokens: -1 }), ['max_output_tokens']);
    deepEqual(await at({ truncation: 'middle' }), ['truncation']);
    deepEqual(await at({ max_output_tokens: 0, temperature: 2, top_p: 0, truncation: 'disabled' }), []);
  });

  it('is rejected if it has templates that cannot be read or compiled, or that are combined with streaming', async () => {
    deepEqual(
      (await openai({ input_template: './no/such.tmpl' })).map((each) => each.split(' ')[1]),
      ['/openai/v1/input_template'],
    );
    const settings = { credentials: 'k', variables: model, output_template: 'package.json' };
    deepEqual(await written({ openai: { v1: settings } }, streaming), ['LLM_TEMPLATE /openai/v1/output_template']);
  });

  it('is rejected if the output encoding does not match the stream, or has no structured data', async () => {
    const output = (vendor: string, name: string, settings: object = {}) =>
      testbed.issues(vendor, settings, { output_encoding: name });
    deepEqual(await output('openai', 'eventstream'), ['LLM_OUTPUT ']);
    deepEqual(await output('openai', 'ndjson'), ['LLM_OUTPUT ']);
    deepEqual(await output('bedrock', 'sse'), ['LLM_OUTPUT ']);
    deepEqual(await output('bedrock', 'eventstream', { format: 'openai' }), ['LLM_OUTPUT ']);
    deepEqual(await output('openai', 'no-op'), ['ENDPOINT_NO_DATA /endpoints/0/output_encoding']);
    deepEqual(await testbed.issues('openai', {}, {}, { encoding: 'xml' }), ['LLM_ENCODING ']);
  });

  it('is rejected if it has a streaming url_pattern and a non-streaming output encoding, or the reverse', async () => {
    const at = (vendor: string, url_pattern: string, endpoint: object = {}) =>
      testbed.issues(vendor, {}, endpoint, { url_pattern });
    deepEqual(await at('gemini', '/v1beta/models/x:streamGenerateContent?alt=sse'), ['LLM_PATH ']);
    deepEqual(await at('bedrock', '/model/x/converse-stream'), ['LLM_PATH ']);
    deepEqual(await at('gemini', '/v1beta/models/x:countTokens', streaming), ['LLM_PATH ']);
    deepEqual(await at('bedrock', '/model/x/converse-stream', streaming), []);
  });

  it("is accepted with a warning for settings without effect and filters on the vendor's raw response", async () => {
    const warnings = async (settings: object, more: object) => {
      const gateway = await testbed.serve([modelBackend(testbed.backend.url, 'openai', settings, more)]);
      return gateway.status.warnings.map(({ code }) => code).filter((code) => code !== 'SECRET_LITERAL');
    };
    deepEqual(await warnings({ format: 'openai' }, {}), ['LLM_FORMAT']);
    deepEqual(await warnings({}, { deny: ['id'] }), ['LLM_SHAPE']);
    deepEqual(await warnings({}, { method: 'GET' }), ['LLM_METHOD']);
    deepEqual(await warnings({ variables: { ...model, temprature: 1 } }, {}), ['LLM_VARIABLE']);
    deepEqual(await warnings({ variables: { ...model, foo: 1 } }, { group: 'a' }), []);
  });
});
