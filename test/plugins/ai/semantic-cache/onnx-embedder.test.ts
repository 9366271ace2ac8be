import { deepEqual, equal, throws } from 'node:assert/strict';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/ai/semantic-cache/index.ts';
import { demandPackages } from '../../../../plugins/ai/semantic-cache/onnx/model-embedder.ts';
import { json, startBackend, startGateway } from '../../../support/gateway.ts';
import { folderOf, type ModelFolder, modelFiles } from '../../../support/onnx/model-folder.ts';
import { findingsOf } from '../../auth/fixture.ts';

const vectors = { capital: [1, 0.1], town: [1, 0.2], weather: [0, 1], the: [0, 0], in: [0, 0] };

describe('a semantic cache with an ONNX model', () => {
  let folder: ModelFolder | undefined;
  afterEach(() => {
    folder?.remove();
    folder = undefined;
  });

  const answersOf = async (embedder: object, prompts: readonly string[]) => {
    const backend = await startBackend((seen, response) => json({ seen: backend.requests.length })(seen, response));
    const gateway = await startGateway({
      extra_config: { 'ai/semantic-cache': { embedders: [{ name: 'default', timeout: '60s', ...embedder }] } },
      endpoints: [
        {
          ...{
            endpoint: '/chat',
            method: 'POST',
            timeout: '60s',
            backend: [{ host: [backend.url], url_pattern: '/' }],
          },
          extra_config: { 'ai/semantic-cache': { req_content: 'req_body.prompt', max_distance: 0.05 } },
        },
      ],
    });
    const answers: unknown[] = [];
    try {
      for (const prompt of prompts) {
        const reply = await gateway.inject({ method: 'POST', url: '/chat', payload: { prompt } });
        answers.push(reply.statusCode === 200 ? JSON.parse(reply.body).seen : reply.statusCode);
      }
    } finally {
      await gateway.close();
      await backend.close();
    }
    return answers;
  };

  it('answers prompts with the same meaning from the cache', async () => {
    folder = folderOf(modelFiles(vectors));
    const embedder = { model_path: folder.path, vector_dimension: 2 };
    deepEqual(
      await answersOf(embedder, ['the capital', 'town', 'weather in the capital', 'the weather']),
      [1, 1, 2, 3],
    );
  });

  it('bypasses the cache for prompts that the model cannot represent', async () => {
    folder = folderOf({ ...modelFiles(vectors), 'tokenizer_config.json': { model_max_length: 4 } });
    const prompts = ['the capital', 'the village', 'the village', 'town in the capital', 'town'];
    deepEqual(await answersOf({ model_path: folder.path }, prompts), [1, 2, 3, 4, 1]);
  });

  it('answers from the backend if the model cannot be loaded', async () => {
    folder = folderOf({ ...modelFiles(vectors), 'model.onnx': 'text' });
    deepEqual(await answersOf({ model_path: folder.path }, ['town', 'town']), [1, 2]);
  });

  it('answers from the backend if the vectors have another number of dimensions', async () => {
    folder = folderOf(modelFiles(vectors));
    deepEqual(await answersOf({ model_path: folder.path, vector_dimension: 3 }, ['town', 'town']), [1, 2]);
  });

  it('releases the model when it is reloaded or closed', async () => {
    folder = folderOf(modelFiles(vectors));
    const config = { embedders: [{ name: 'a', model_path: folder.path }] };
    const harness = await openHarness(plugin, 'service', config);
    await harness.reload({ embedders: [{ name: 'b', model_path: folder.path }] });
    deepEqual(await harness.close(), { kept: 0, deferred: 0 });
  });

  describe('when the configuration is checked', () => {
    const none = { 'model.onnx': undefined };
    const at = '/embedders/0';
    for (const [what, files, finding, more = {}] of [
      ['a directory without a model', none, 'SEMANTIC_CACHE_MODEL /embedders/0/model_path'],
      ['a directory without a tokenizer', { 'tokenizer.json': undefined }, `SEMANTIC_CACHE_MODEL ${at}/model_path`],
      ['configuration files that are not JSON', { 'config.json': '{' }, `SEMANTIC_CACHE_MODEL ${at}/model_path`],
      [
        'other kinds of pooling',
        { '1_Pooling/config.json': { pooling_mode_max_tokens: true } },
        `SEMANTIC_CACHE_MODEL ${at}/model_path`,
      ],
      [
        'several kinds of pooling',
        { '1_Pooling/config.json': { pooling_mode_cls_token: true, pooling_mode_mean_tokens: true } },
        `SEMANTIC_CACHE_MODEL ${at}/model_path`,
      ],
      [
        'other modules',
        { 'modules.json': [{ type: 'sentence_transformers.models.Dense' }] },
        `SEMANTIC_CACHE_MODEL ${at}/model_path`,
      ],
      ['a model together with a server', {}, `SEMANTIC_CACHE_MODEL ${at}/url`, { url: 'https://a.test' }],
      ['credentials for a model', {}, `SEMANTIC_CACHE_MODEL ${at}/credentials`, { credentials: 'key' }],
    ] as const) {
      it(`rejects ${what}`, async () => {
        const present = Object.entries({ ...modelFiles(vectors), ...files }).filter(
          ([, content]) => content !== undefined,
        );
        folder = folderOf(Object.fromEntries(present) as Parameters<typeof folderOf>[0]);
        const config = { embedders: [{ name: 'a', model_path: folder.path, ...more }] };
        deepEqual(await findingsOf(openHarness(plugin, 'service', config)), [finding]);
      });
    }

    it('accepts the files of sentence-transformers', async () => {
      const { 'model.onnx': model, ...others } = modelFiles(vectors);
      folder = folderOf({
        ...others,
        ...{ 'onnx/model.onnx': model!, 'config.json': { max_position_embeddings: 512 } },
        ...{
          'sentence_bert_config.json': { max_seq_length: 256 },
          'tokenizer_config.json': { model_max_length: 1e30 },
        },
        'modules.json': ['Transformer', 'Pooling', 'Normalize'].map((name) => ({
          type: `sentence_transformers.models.${name}`,
        })),
        '1_Pooling/config.json': { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false },
      });
      const harness = await openHarness(plugin, 'service', { embedders: [{ name: 'a', model_path: folder.path }] });
      equal((await harness.close()).kept, 0);
    });

    it('names the missing packages to install', () => {
      const site = {
        fault: (code: string, at: string, message: string, { hint }: { hint: string }) =>
          new Error([code, at, message, hint].join(' | ')),
      };
      throws(
        () => demandPackages(site as never, '/embedders/0/model_path', ['missing-runtime']),
        /^Error: ONNX_RUNTIME_MISSING \| \/embedders\/0\/model_path \| .* missing-runtime, .* \| npm install onnxruntime-web @huggingface\/tokenizers$/,
      );
    });
  });
});
