import { type Call, CallError, type Site } from '#contract';
import { during } from '../../../shared/calls/during.ts';
import type { Embedder } from '../embedder.ts';
import { type Embedding, Model } from './model.ts';
import { readModel } from './model-files.ts';
import { packages } from './runtime.ts';

const code = 'SEMANTIC_CACHE_EMBEDDING';

/** Settings of an embedder with a model. */
export interface ModelSettings {
  readonly path: string;
  /** JSON Pointer of the path, relative to the component. */
  readonly at: string;
  readonly timeoutMs: number;
}

/** An embedder that runs an ONNX model in a thread. @throws ConfigError SEMANTIC_CACHE_MODEL, ONNX_RUNTIME_MISSING */
export function modelEmbedder(site: Site<unknown>, { path, at, timeoutMs }: ModelSettings): Embedder {
  const files = readModel(site, path, at);
  demandPackages(site, at);
  const clock = site.use('clock');
  const model = site.keep(
    ['onnx', { ...files }],
    () => new Model(files, clock),
    (old) => old.close(),
  );
  let identity = '';
  site.warm(async () => {
    try {
      identity = JSON.stringify([await model.identity(), files.pooling]);
    } catch (cause) {
      throw site.fault('SEMANTIC_CACHE_MODEL', at, 'the model cannot be read', { cause });
    }
  });
  return {
    get identity() {
      return identity;
    },
    async embed(text: string, call: Call) {
      const part = call.fork(timeoutMs);
      let embedding: Embedding | undefined;
      try {
        embedding = await model.embed(text, timeoutMs);
        return await during(part, embedding.result);
      } catch (error) {
        throw call.reason ?? (part.reason ? new CallError(code, `no vector within ${timeoutMs}ms`) : error);
      } finally {
        embedding?.drop();
        part.finish();
      }
    },
  };
}

/** @throws ConfigError ONNX_RUNTIME_MISSING */
export function demandPackages(site: Site<unknown>, at: string, names: readonly string[] = packages): void {
  for (const name of names) {
    try {
      import.meta.resolve(name);
    } catch {
      throw site.fault('ONNX_RUNTIME_MISSING', at, `ONNX models require the package ${name}, which is not installed`, {
        hint: `npm install ${packages.join(' ')}`,
      });
    }
  }
}
