import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { tokenVectors } from './model-bytes.ts';

const special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]'];
const marker = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
const specialToken = (id: string) => [id, { id, ids: [special.indexOf(id)], tokens: [id] }];

/** The `tokenizer.json` of a BERT model with these words. */
export function tokenizerOf(words: readonly string[]): object {
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: special.map((content, id) => ({ id, content, special: true, normalized: false })),
    normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, lowercase: true },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [marker('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, marker('[SEP]')],
      pair: [],
      special_tokens: Object.fromEntries([specialToken('[CLS]'), specialToken('[SEP]')]),
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      ...{ type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100 },
      vocab: Object.fromEntries([...special, ...words].map((word, id) => [word, id])),
    },
  };
}

export interface ModelFolder {
  readonly path: string;
  remove(): void;
}

/** A directory with files, as text or as JSON. */
export function folderOf(files: Readonly<Record<string, Uint8Array | string | object>>): ModelFolder {
  const path = mkdtempSync(join(tmpdir(), 'sluice-model-'));
  for (const [name, content] of Object.entries(files)) {
    const file = join(path, name);
    mkdirSync(dirname(file), { recursive: true });
    const isRaw = typeof content === 'string' || content instanceof Uint8Array;
    writeFileSync(file, isRaw ? content : JSON.stringify(content));
  }
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Vectors of the words, by word; other tokens have the vector 0. */
export type Vectors = Readonly<Record<string, readonly number[]>>;

/** Rows of the table of a model, by token. */
export function rowsOf(vectors: Vectors): number[][] {
  const rows = Object.values(vectors);
  return [...special.map(() => rows[0]!.map(() => 0)), ...rows.map((row) => [...row])];
}

/** The files of a model with these words. */
export function modelFiles(vectors: Vectors): Record<string, Uint8Array | object> {
  return { 'model.onnx': tokenVectors(rowsOf(vectors)), 'tokenizer.json': tokenizerOf(Object.keys(vectors)) };
}
