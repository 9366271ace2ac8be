/**
 * The parts of `onnxruntime-web` and `@huggingface/tokenizers` that are used. They are declared here because both packages
 * are optional: type checks must not require them.
 */

/** Packages that embedders with `model_path` require. They take 150 MB on disk and are therefore optional. */
export const packages = ['onnxruntime-web', '@huggingface/tokenizers'] as const;

export interface Tensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: Float32Array;
}

export interface Session {
  readonly inputNames: readonly string[];
  readonly inputMetadata: readonly { readonly type?: string }[];
  readonly outputNames: readonly string[];
  run(inputs: Readonly<Record<string, object>>, outputs: readonly string[]): Promise<Readonly<Record<string, Tensor>>>;
}

export interface OnnxRuntime {
  readonly env: { readonly wasm: { numThreads: number } };
  readonly InferenceSession: { create(model: Uint8Array, options: object): Promise<Session> };
  readonly Tensor: new (type: string, data: BigInt64Array | Int32Array, dims: readonly number[]) => object;
}

export interface Tokenizer {
  encode(
    text: string,
    options: { return_token_type_ids: true },
  ): {
    readonly ids: readonly number[];
    readonly token_type_ids: readonly number[];
  };
  token_to_id(token: string): number | undefined;
}

export interface Tokenizers {
  readonly Tokenizer: new (tokenizer: object, config: object) => Tokenizer;
}
