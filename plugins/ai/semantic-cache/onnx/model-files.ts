import { join } from 'node:path';
import { type Data, isObject, type Site } from '#contract';

/** Default and maximum number of tokens of a text. */
const DEFAULT_TOKENS = 512;
const MAX_TOKENS = 8192;

/** Modules of a sentence-transformers model that do not change the direction of its vectors. */
const known = /(?:^|\.)(?:Transformer|Pooling|Normalize)$/;

/** Method that combines the vectors of tokens into one vector. */
export type Pooling = 'mean' | 'cls';

/** A text embedding model on disk, in the layout of sentence-transformers. */
export interface ModelFiles {
  readonly directory: string;
  /** Path of the ONNX file. */
  readonly model: string;
  /** Path of `tokenizer.json`. */
  readonly tokenizer: string;
  /** Content of `tokenizer_config.json`. */
  readonly tokenizerConfig: Data;
  readonly pooling: Pooling;
  /** Maximum number of tokens of a text. */
  readonly maxTokens: number;
}

/** @param at relative pointer of the directory. @throws ConfigError SEMANTIC_CACHE_MODEL */
export function readModel(site: Site<unknown>, directory: string, at: string): ModelFiles {
  const fault = (message: string, hint?: string, cause?: unknown) =>
    site.fault('SEMANTIC_CACHE_MODEL', at, message, { ...(hint !== undefined && { hint }), cause });
  const listed = (path: string): readonly string[] => {
    try {
      return site.list(path);
    } catch (cause) {
      throw fault(`the directory "${path}" cannot be read`, undefined, cause);
    }
  };
  const names = listed(directory);
  const jsonOf = (folder: readonly string[], ...path: readonly string[]): Data => {
    if (!folder.includes(path.at(-1)!)) return {};
    const file = join(directory, ...path);
    try {
      return JSON.parse(Buffer.from(site.read(file)).toString()) as Data;
    } catch (cause) {
      throw fault(`"${file}" is not readable JSON`, undefined, cause);
    }
  };

  const inside = names.includes('model.onnx') ? [] : ['onnx'];
  const isPresent =
    inside.length === 0 || (names.includes('onnx') && listed(join(directory, 'onnx')).includes('model.onnx'));
  if (!isPresent) {
    throw fault(
      `"${directory}" contains neither model.onnx nor onnx/model.onnx`,
      'export the model, for example with: optimum-cli export onnx --model sentence-transformers/all-MiniLM-L6-v2 DIRECTORY',
    );
  }
  if (!names.includes('tokenizer.json')) throw fault(`"${directory}" contains no tokenizer.json`);
  const modules = jsonOf(names, 'modules.json');
  const other = Array.isArray(modules)
    ? modules.map((module) => textOf(module, 'type')).find((type) => !known.test(type))
    : undefined;
  if (other !== undefined) throw fault(`the model has a module that is not supported: ${other}`);

  const pooling = poolingOf(
    names.includes('1_Pooling') ? jsonOf(listed(join(directory, '1_Pooling')), '1_Pooling', 'config.json') : {},
  );
  if (pooling === null)
    throw fault('the model has a pooling mode that is not supported', 'use a model with mean or CLS pooling');
  const tokenizerConfig = jsonOf(names, 'tokenizer_config.json');
  const limits = [
    numberOf(jsonOf(names, 'sentence_bert_config.json'), 'max_seq_length'),
    numberOf(tokenizerConfig, 'model_max_length'),
    numberOf(jsonOf(names, 'config.json'), 'max_position_embeddings'),
  ].filter((limit) => limit > 0);
  return {
    ...{ directory, tokenizerConfig, pooling },
    model: join(directory, ...inside, 'model.onnx'),
    tokenizer: join(directory, 'tokenizer.json'),
    maxTokens:
      limits.length === 0 ? DEFAULT_TOKENS : limits.reduce((least, limit) => Math.min(least, limit), MAX_TOKENS),
  };
}

/** Returns the pooling method that a file configures; null for one that is not supported. */
function poolingOf(config: Data): Pooling | null {
  const modes = isObject(config)
    ? Object.keys(config).filter((key) => /^pooling_mode_/.test(key) && config[key] === true)
    : [];
  if (modes.length === 0) return 'mean';
  if (modes.length > 1) return null;
  return modes[0] === 'pooling_mode_mean_tokens' ? 'mean' : modes[0] === 'pooling_mode_cls_token' ? 'cls' : null;
}

function textOf(value: Data, key: string): string {
  const text = isObject(value) ? value[key] : undefined;
  return typeof text === 'string' ? text : '';
}

function numberOf(value: Data, key: string): number {
  const number = isObject(value) ? value[key] : undefined;
  return typeof number === 'number' ? number : 0;
}
