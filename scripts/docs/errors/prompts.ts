import type { Codes } from './codes.ts';

/** Error codes of classifiers, guards, redaction and caches of prompts. */
export const promptErrors: Codes = {
  AI_SERVER_INSECURE: ['Prompts are sent to a server without TLS.', 'Use `https://`.'],
  AI_SERVER_ADDRESS: [
    'The URL of a classifier, a prompt guard or an embedder cannot be called.',
    'Write it as `https://host/path`, without credentials.',
  ],
  CLASSIFIER_FAILED: [
    'A classifier did not choose a provider.',
    'Read the reason in the message. The failover of the route applies.',
  ],
  CLASSIFIER_FIELD: [
    'The settings of a gate or classifier do not fit its rule or engine.',
    'Correct the configuration as the message says.',
  ],
  CLASSIFIER_NAME: ['Two gates or two classifiers have the same name.', 'Use different names.'],
  ONNX_RUNTIME_MISSING: [
    'An embedder runs an ONNX model, and a package for that is not installed.',
    'Run `npm install onnxruntime-web @huggingface/tokenizers`.',
  ],
  PROMPT_BLOCKED: [
    'A guard blocked a request. The client gets 403.',
    'Read the guard in the message. If the request was harmless, deselect the group or correct the pattern.',
  ],
  PROMPT_GUARD_FAILED: [
    'A classifier did not score a request.',
    'Read the reason in the log. `on_failure_block` decides about such requests.',
  ],
  PROMPT_GUARD_FIELD: [
    'The settings of a guard do not fit its kind.',
    'Correct the configuration as the message says.',
  ],
  PROMPT_GUARD_LIMIT: [
    'A request is too long to be inspected. The client gets 413.',
    'Lower `max_payload`, or simplify the patterns.',
  ],
  PROMPT_GUARD_NAME: ['The name of a guard is used twice, or has a meaning already.', 'Use another name.'],
  PROMPT_GUARD_NONE: [
    'All guards of an endpoint or backend are deselected.',
    'Remove `ai/prompt-guard`, or list a guard.',
  ],
  PROMPT_GUARD_UNKNOWN: ['A selected guard does not exist.', 'Correct the name, or declare the guard at the root.'],
  PROMPT_GUARD_UNREADABLE: [
    'The body is compressed or in another character set, so guards cannot read it. The client gets 415.',
    'Send the body in UTF-8, uncompressed or in gzip.',
  ],
  REDACTION_LIMIT: [
    'A request is too long for the patterns of `ai/redaction`. The client gets 413.',
    'Lower `max_payload`, or simplify the patterns.',
  ],
  REDACTION_NAME: ['Two kinds of personal data have the same name.', 'Use another name.'],
  REDACTION_UNREADABLE: [
    'The body is compressed or in another character set, so personal data is not found. The client gets 415.',
    'Send the body in UTF-8, uncompressed or in gzip.',
  ],
  REQUEST_PART: ['A path does not select a part of the request.', 'Write it as in the hint.'],
  SEMANTIC_CACHE_EMBEDDER: [
    'The root declares no embedder of this name.',
    'Declare it in `ai/semantic-cache` at the root.',
  ],
  SEMANTIC_CACHE_EMBEDDING: [
    'A server or model did not return the vector of a text. The request bypasses the cache.',
    'Read the reason in the log.',
  ],
  SEMANTIC_CACHE_HEADER: ['A header of the cache is not forwarded, so it is never set.', 'Add it to `input_headers`.'],
  SEMANTIC_CACHE_MODEL: [
    'An embedder has neither `url` nor `model_path`, or its model cannot be used.',
    'Follow the message: set the `url` of a server with the embeddings API, or the directory of a model.',
  ],
  SEMANTIC_CACHE_NAME: ['Two embedders have the same name.', 'Use different names.'],
  SEMANTIC_CACHE_SHARED: [
    'Authenticated callers receive stored responses to requests of other callers.',
    'Add the header that identifies a caller to `key_variants`.',
  ],
};
