import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { FromModel, ModelStart } from './model.ts';
import { pooled } from './pooled.ts';
import { type OnnxRuntime, packages, type Session, type Tokenizer, type Tokenizers } from './runtime.ts';

/** Returns the vector of a text. @throws Error for a text that the model cannot represent. */
type Embed = (text: string) => Promise<Float32Array>;

async function load({
  model,
  tokenizer: path,
  tokenizerConfig,
  pooling,
  maxTokens,
  identity,
}: ModelStart): Promise<Embed> {
  const [runtimePackage, tokenizersPackage] = packages;
  const bytes = readFileSync(model);
  const tokenizerBytes = readFileSync(path);
  if (createHash('sha256').update(bytes).update(tokenizerBytes).digest('base64') !== identity) {
    throw new Error('the files of the model have changed: restart the gateway, or use another directory');
  }
  const runtime = (await import(runtimePackage)) as OnnxRuntime;
  // The model runs in a single thread, because more threads would compete with those that serve requests.
  runtime.env.wasm.numThreads = 1;
  const session = await runtime.InferenceSession.create(bytes, { executionProviders: ['wasm'], logSeverityLevel: 4 });
  const output = outputOf(session);
  const tokenizerJson = JSON.parse(tokenizerBytes.toString());
  const { Tokenizer } = (await import(tokenizersPackage)) as Tokenizers;
  const tokenizer = new Tokenizer(tokenizerJson, tokenizerConfig as object);
  const unknown = unknownToken(tokenizer, tokenizerJson.model);

  return async (text) => {
    const { ids, token_type_ids: types } = tokenizer.encode(text, { return_token_type_ids: true });
    if (ids.length > maxTokens) throw new Error(`the text has ${ids.length} tokens; the model reads ${maxTokens}`);
    // Texts with unknown words are rejected: these words all have the same vector, so texts with different ones would
    // share responses.
    if (unknown !== undefined && ids.includes(unknown)) throw new Error('the text contains words unknown to the model');
    const inputs = inputsOf(runtime, session, { ids, types });
    return pooled((await session.run(inputs, [output]))[output]!, pooling);
  };
}

interface Encoded {
  readonly ids: readonly number[];
  readonly types: readonly number[];
}

function inputsOf(runtime: OnnxRuntime, session: Session, { ids, types }: Encoded): Record<string, object> {
  const values = new Map([
    ['input_ids', ids],
    ['attention_mask', ids.map(() => 1)],
    ['token_type_ids', types],
  ]);
  const inputs: Record<string, object> = {};
  for (const [at, name] of session.inputNames.entries()) {
    const value = values.get(name);
    if (!value) throw new Error(`the model has an input that is not supported: ${name}`);
    const isShort = session.inputMetadata[at]?.type === 'int32';
    const data = isShort ? Int32Array.from(value) : BigInt64Array.from(value, BigInt);
    inputs[name] = new runtime.Tensor(isShort ? 'int32' : 'int64', data, [1, ids.length]);
  }
  return inputs;
}

function outputOf({ outputNames: names }: Session): string {
  return (
    ['sentence_embedding', 'last_hidden_state', 'token_embeddings'].find((name) => names.includes(name)) ?? names[0]!
  );
}

/** ID of the token for unknown words, if the vocabulary has one. */
function unknownToken(
  tokenizer: Tokenizer,
  { unk_token: token, unk_id: id }: { readonly unk_token?: unknown; readonly unk_id?: unknown },
): number | undefined {
  if (typeof id === 'number') return id;
  return typeof token === 'string' ? tokenizer.token_to_id(token) : undefined;
}

const embed = await load(workerData as ModelStart);
parentPort!.on('message', (text: string) => {
  embed(text).then(
    (vector) => parentPort!.postMessage({ vector } satisfies FromModel),
    (error: Error) => parentPort!.postMessage({ reason: error.message } satisfies FromModel),
  );
});
parentPort!.postMessage({ isReady: true } satisfies FromModel);
