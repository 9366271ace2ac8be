import type { Codes } from './codes.ts';

/** Error codes of models and tools. */
export const aiErrors: Codes = {
  CHAT_BACKEND: [
    'The backend of a model has neither `ai/llm` nor `ai/router`.',
    'Add one of them to the `extra_config` of the backend.',
  ],
  CHAT_COMPLETION: ['A model did not respond to the request.', 'Read the message, and see the log for the cause.'],
  CHAT_METHOD: ['The endpoint cannot serve the method.', 'Use POST for completions and GET for the list of models.'],
  CHAT_MODEL: [
    'A model is unknown or declared twice, or no models are declared.',
    'Correct the name, or declare the model at the root.',
  ],
  LLM_ADDRESS: [
    'The backend has a host, but its provider defines the address.',
    'Remove `host`, or set `endpoint` of the provider.',
  ],
  LLM_ANSWER: ['The response of the provider is not JSON.', 'Check the address and the path of the backend.'],
  LLM_COMPRESSED: [
    'The provider compressed its stream in a way that cannot be read.',
    'Do not forward `Accept-Encoding`.',
  ],
  LLM_ENCODING: ['`ai/llm` needs a JSON response.', 'Set `"encoding": "json"`.'],
  LLM_FAILURE: ['The response of the provider has an unexpected form.', 'Read the reason in the message.'],
  LLM_FORMAT: ['`format` has no effect: the endpoint does not stream.', 'Set a streaming `output_encoding`.'],
  LLM_METHOD: ['The API of the provider requires POST.', 'Set `"method": "POST"`.'],
  LLM_OUTPUT: [
    'The stream of the provider cannot be written in this output encoding.',
    'Set the output encoding that the hint names.',
  ],
  LLM_PARAMETER: [
    'The provider does not support a parameter of the request. The client gets 400.',
    'Remove the parameter.',
  ],
  LLM_PATH: ['`url_pattern` and the output encoding disagree about streaming.', 'Set the path that the hint names.'],
  LLM_PROVIDER: [
    '`ai/llm` refers to a provider that is not declared, or not valid.',
    'Declare the provider in `ai/providers` at the root, or correct the name.',
  ],
  LLM_PROMPT: ['The request is not a valid prompt. The client gets 400.', 'Correct the request as the message says.'],
  LLM_SHAPE: [
    'A filter of the backend changes the response before `ai/llm` reads it.',
    'Move the filter to the endpoint.',
  ],
  LLM_TEMPLATE: ['A template has no effect on streams.', 'Set `"output_encoding": "json"`.'],
  LLM_VARIABLE: ['The provider has no variable of this name.', 'Correct the name.'],
  MCP_AUDIENCE: [
    'The source of the audiences is not complete, or a tool has no audiences.',
    'Correct the configuration as the message says; `"audiences": ["*"]` allows any audience.',
  ],
  MCP_ARGUMENT: [
    'The path of the endpoint requires an argument that the tool does not declare.',
    'Add the argument to `properties` and `required`.',
  ],
  MCP_DUPLICATE: ['Two servers, upstream servers or tools have the same name.', 'Use different names.'],
  MCP_ENDPOINT: [
    'A tool refers to an endpoint that does not exist or cannot be a tool.',
    'Make the change that the hint proposes.',
  ],
  MCP_HEADER: [
    'A header of a tool or upstream server is not valid, is sent twice, or belongs to the gateway.',
    'Use another header.',
  ],
  MCP_INSECURE: ['Tool calls are sent to an upstream server without TLS.', 'Use a URL with https.'],
  MCP_METHOD: ['The endpoint of an MCP server cannot serve the method.', 'Remove `method`.'],
  MCP_PARAM_HEADER: [
    'The settings that mirror parameters of a tool in headers are not valid.',
    'Correct the configuration as the message says.',
  ],
  MCP_PREFIX: [
    'The prefix of an upstream server begins with another prefix or is the beginning of a tool name, or the reverse.',
    'Set another `prefix`.',
  ],
  MCP_RATE: ['A rate limit of a tool has no rate, no key, or a period below a second.', 'Follow the message.'],
  MCP_RESOURCE: ['The protected resource is not a valid URL, or its path is used twice.', 'Correct `resource`.'],
  MCP_SCHEMA: [
    'The schema of a tool is not valid.',
    'Correct the configuration as the message says; arguments are of type `object`.',
  ],
  MCP_SERVER: ['The root declares no MCP server of this name.', 'Declare the server in `ai/mcp` at the root.'],
  MCP_STATELESS: ['`sse_transport` cannot be combined with `stateless`.', 'Set `stateless` to false.'],
  MCP_TOOL_NAME: [
    'Some clients do not show a tool of this name.',
    'Use 1 to 128 of the characters A-Z, a-z, 0-9, `_`, `-` and `.`.',
  ],
  MCP_UNUSED: ['A setting has no effect on this MCP server.', 'Remove it, or set what the message names.'],
  MCP_UPSTREAM: [
    'The URL of an upstream server is not valid, or its response could not be used.',
    'Write an http or https URL without credentials; check the log of the upstream server.',
  ],
  MCP_WORKFLOW: [
    'A tool of this type requires an endpoint that passes the body through undecoded.',
    'Set `"output_encoding": "no-op"`.',
  ],
  PROVIDER_ENDPOINT: [
    'The endpoint of a provider is not a URL that the gateway can call.',
    'Write a URL with http or https and without credentials.',
  ],
  PROVIDER_NAME: ['Two providers have the same name.', 'Use different names.'],
  ROUTER_CLASSIFIER: ['A route names a classifier that is not declared.', 'Declare it in `ai/classifiers`.'],
  ROUTER_EMPTY: [
    'A provider ended its stream before the first byte. The next provider is tried.',
    'See the log of the provider.',
  ],
  ROUTER_GATE: ['A route names a gate that is not declared.', 'Declare it in `ai/classifiers`.'],
  ROUTER_OUTPUT: ['A router cannot respond in this output encoding.', 'Set `"output_encoding"` to streaming or json.'],
  ROUTER_PROVIDER: [
    'A router refers to a provider that is not declared.',
    'Declare the provider in `ai/providers` at the root, or correct the name.',
  ],
  ROUTER_ROUTE: [
    'The fields of a route contradict each other, or one is missing.',
    'Make the change that the hint proposes.',
  ],
  ROUTER_TARGET: [
    'A provider has two targets, or no route names the provider of a target.',
    'Remove the target, or correct its `provider`.',
  ],
  ROUTER_TIMEOUT: [
    'A provider did not respond in its time. The next provider is tried.',
    'Raise `attempt_timeout`, or the timeout of the endpoint.',
  ],
  ROUTER_UNMATCHED: [
    'A request matches no route of the router. The client gets 500.',
    'Place a route without gates last.',
  ],
};
