import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_QUEUED, Model } from '../../../../plugins/ai/semantic-cache/onnx/model.ts';
import type { Pooling } from '../../../../plugins/ai/semantic-cache/onnx/model-files.ts';
import { endless, textVectors, tokenVectors } from '../../../support/onnx/model-bytes.ts';
import { folderOf, type ModelFolder, modelFiles, rowsOf } from '../../../support/onnx/model-folder.ts';

const vectors = { capital: [1, 0], of: [0, 0], france: [0, 1], '##s': [2, 2] };
const code = 'SEMANTIC_CACHE_EMBEDDING';

/** Data URL of a program that replaces the one that runs models. */
const program = (source: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { parentPort } from 'node:worker_threads';
    parentPort.postMessage({ isReady: true });
    parentPort.on('message', (text) => { ${source} });`)}`,
  );

describe('an ONNX model', () => {
  let folder: ModelFolder | undefined;
  let model: Model;
  let now: number;

  afterEach(async () => {
    await model.close();
    folder?.remove();
    folder = undefined;
  });

  const open = (files: Parameters<typeof folderOf>[0] = {}, pooling: Pooling = 'mean', ownProgram?: URL) => {
    now = 0;
    folder = folderOf({ ...modelFiles(vectors), ...files });
    const { path: directory } = folder;
    const settings = { directory, tokenizerConfig: {}, pooling, maxTokens: 8 };
    const paths = { model: join(directory, 'model.onnx'), tokenizer: join(directory, 'tokenizer.json') };
    model = new Model({ ...settings, ...paths }, { now: () => now }, ownProgram);
  };
  const vectorOf = async (text: string, limitMs = 60_000) => [...(await (await model.embed(text, limitMs)).result)];

  it('returns the mean of the vectors of all tokens, including special tokens', async () => {
    open();
    // The text has six tokens: [CLS] capital ##s of france [SEP].
    deepEqual(
      await vectorOf('Capitals of France'),
      [3, 3].map((sum) => Math.fround(sum / 6)),
    );
  });

  it('does not keep the process running', async () => {
    open();
    const ports = () => process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length;
    const before = ports();
    await vectorOf('capital');
    equal(ports(), before);
  });

  it('returns the vector of the first token with CLS pooling', async () => {
    const rows = rowsOf(vectors);
    rows[2] = [5, 7];
    open({ 'model.onnx': tokenVectors(rows) }, 'cls');
    deepEqual(await vectorOf('capital of france'), [5, 7]);
  });

  it('returns the vector of the whole text if the model computes one', async () => {
    open({ 'model.onnx': textVectors(rowsOf(vectors)) }, 'cls');
    deepEqual(await vectorOf('france'), [0, Math.fround(1 / 3)]);
  });

  it('has no vector for texts with more tokens than the model reads', async () => {
    open();
    await rejects(vectorOf('of of of of of of of'), { code, message: /9 tokens; the model reads 8/ });
    equal((await vectorOf('of of of of of of')).length, 2);
  });

  it('has no vector for texts with unknown words, because all unknown words have the same vector', async () => {
    open();
    await rejects(vectorOf('capital of peru'), { code, message: /unknown to the model/ });
  });

  it('computes no vector for texts whose request is canceled while they are queued', async () => {
    open({}, 'mean', program('parentPort.postMessage({ vector: new Float32Array([Number(text)]) })'));
    const [first, second, third] = await Promise.all(['1', '2', '3'].map((text) => model.embed(text, 60_000)));
    second!.drop();
    const unsettled = Symbol();
    deepEqual([[...(await first!.result)], [...(await third!.result)]], [[1], [3]]);
    equal(await Promise.race([second!.result, unsettled]), unsettled);
  });

  it(`queues at most ${MAX_QUEUED} texts`, async () => {
    open({}, 'mean', program(''));
    const pending = [];
    for (let count = 0; count < MAX_QUEUED; count++) pending.push(model.embed('capital', 60_000));
    const queued = await Promise.all(pending);
    await rejects(model.embed('capital', 60_000), { code, message: /100 texts are queued/ });
    const settled = Promise.allSettled(queued.map(({ result }) => result));
    await model.close();
    const results = await settled;
    ok(results.every(({ status }) => status === 'rejected'));
  });

  it('is stopped if its computation never ends, and loaded again when it is used 10 s later', async () => {
    open({ 'model.onnx': endless() });
    await rejects(vectorOf('capital', 10), { code, message: 'the model returned no vector within 10ms' });
    now = 9_999;
    await rejects(vectorOf('capital', 60_000), { code, message: 'the model returned no vector within 10ms' });
    now = 10_000;
    await rejects(vectorOf('capital', 11), { code, message: 'the model returned no vector within 11ms' });
  });

  it('rejects all queued texts if its thread crashes, and starts another thread on a later use', async () => {
    open(
      {},
      'mean',
      program(`if (text === 'crash') process.exit(3); parentPort.postMessage({ vector: new Float32Array([1]) })`),
    );
    const [first, second] = await Promise.all(['crash', 'capital'].map((text) => model.embed(text, 60_000)));
    for (const { result } of [first!, second!]) await rejects(result, { code, message: /exited with code 3/ });
    now = 10_000;
    deepEqual(await vectorOf('capital'), [1]);
  });

  for (const [what, files, message] of [
    ['is not in ONNX format', { 'model.onnx': 'text' }, /^the model failed: .*protobuf/i],
    ['has no tokenizer', { 'tokenizer.json': '{}' }, /^the model failed: /],
  ] as const) {
    it(`rejects texts with the reason if it ${what}, and is not loaded again for 10 s`, async () => {
      open(files);
      await rejects(vectorOf('capital'), { code, message });
      writeFileSync(join(folder!.path, 'model.onnx'), 'changed');
      await rejects(vectorOf('capital'), { code, message });
    });
  }

  it('rejects texts if the files have changed since the configuration was loaded', async () => {
    open();
    const identity = await model.identity();
    writeFileSync(join(folder!.path, 'model.onnx'), textVectors(rowsOf(vectors)));
    await rejects(vectorOf('capital'), { code, message: /the files of the model have changed/ });
    equal(await model.identity(), identity);
  });

  it('has the same identity for equal files, and another one for different files', async () => {
    open();
    const [first, firstFolder] = [await model.identity(), folder!];
    open();
    equal(await model.identity(), first);
    folder!.remove();
    open({ 'model.onnx': textVectors(rowsOf(vectors)) });
    ok((await model.identity()) !== first);
    firstFolder.remove();
  });

  it('rejects texts after it was closed', async () => {
    open();
    await vectorOf('capital');
    await model.close();
    await rejects(vectorOf('capital'), { code, message: 'the model is closed' });
  });
});
