import type { Site } from '#contract';
import type { Embedder } from './embedder.ts';
import { normalized } from './normalized.ts';
import { modelEmbedder } from './onnx/model-embedder.ts';
import type { EmbedderConfig } from './schema.ts';
import { serverEmbedder } from './server-embedder.ts';

/** @throws ConfigError SEMANTIC_CACHE_NAME, SEMANTIC_CACHE_MODEL, ONNX_RUNTIME_MISSING, and errors for an unusable URL. */
export function openEmbedders(site: Site<unknown>, configs: readonly EmbedderConfig[]): ReadonlyMap<string, Embedder> {
  const opened = new Map<string, Embedder>();
  for (const [index, config] of configs.entries()) {
    const at = `/embedders/${index}`;
    const { name } = config;
    if (opened.has(name)) throw site.fault('SEMANTIC_CACHE_NAME', `${at}/name`, `the name "${name}" is used twice`);
    opened.set(name, normalizing(openEmbedder(site, config, at), config.vector_dimension));
  }
  return opened;
}

/** Settings of a server, which an embedder with `model_path` ignores. */
const ofServer = ['url', 'model', 'credentials'] as const;

function openEmbedder(site: Site<unknown>, config: EmbedderConfig, at: string): Embedder {
  const { url, model_path: path, timeout: timeoutMs } = config;
  if (path !== undefined) {
    const other = ofServer.find((field) => config[field] !== undefined);
    if (other !== undefined) {
      throw site.fault('SEMANTIC_CACHE_MODEL', `${at}/${other}`, `"${other}" cannot be combined with "model_path"`);
    }
    return modelEmbedder(site, { path, at: `${at}/model_path`, timeoutMs });
  }
  if (url !== undefined) return serverEmbedder(site, { ...config, url }, at);
  throw site.fault('SEMANTIC_CACHE_MODEL', at, 'an embedder requires "url" or "model_path"');
}

/** An embedder whose vectors have length 1, and the number of dimensions if that is defined. */
function normalizing(embedder: Embedder, dimensions: number | undefined): Embedder {
  return {
    get identity() {
      return embedder.identity;
    },
    embed: async (text, call) => normalized(await embedder.embed(text, call), dimensions),
  };
}
