import type { Codes } from './codes.ts';

/** Error codes of components that change requests and responses: scripts, templates, schemas, `proxy`. */
export const modifierErrors: Codes = {
  CONDITION_FALLBACK: [
    'The fallback of conditional backends is not valid.',
    'Use one fallback at most, which is not a shadow.',
  ],
  CONDITION_FIELD: ['The strategy requires a field that is missing.', 'Add the field that the message names.'],
  CONDITION_HEADER: ['The condition reads a header that is not forwarded.', 'Add the header to `input_headers`.'],
  CONDITION_ORDER: ['Conditions after the fallback are not evaluated before it.', 'Move the fallback to the end.'],
  CONTENT_REPLACER_ENTRY: [
    'The replacement for a field is missing.',
    'Write the replacement as `{"find": "a", "replace": "b"}`.',
  ],
  CONTENT_REPLACER_RAW: [
    'Replacements have no effect on a response that is not decoded.',
    'Use another output encoding than `no-op`.',
  ],
  EXTRACTOR_HEADER: ['The target header cannot be set from the body.', 'Use another header name.'],
  HEADERS_DATE: ['A rule changes `Date`, which caches rely on.', 'Remove the rule.'],
  HEADERS_EMPTY: ['The component changes no header.', 'Name a header, or remove the component.'],
  HEADERS_FRAMING: ['The header is a connection header: the rule has no effect.', 'Remove the rule.'],
  HEADERS_NAME: ['A header name is not valid.', 'Correct the name.'],
  HEADERS_VALUE: ['A header value contains characters that cannot be sent.', 'Write printable ASCII or Latin-1.'],
  JMESPATH_LIMIT: ['A JMESPath expression exceeded its limit of steps, depth or text.', 'Simplify the expression.'],
  JMESPATH_RAW: ['The expression has no effect, because the response is not decoded.', 'Use an encoding that decodes.'],
  JMESPATH_SYNTAX: ['The JMESPath expression has a syntax error.', 'Correct it at the marked position.'],
  JMESPATH_TYPE: [
    'A JMESPath function got an argument of the wrong type.',
    'Make sure that the argument has the right type, for example with `not_null()`.',
  ],
  JSON_SCHEMA_DEPTH: ['A body or schema is nested too deeply.', 'Flatten the body or schema.'],
  JSON_SCHEMA_DRAFT: ['The draft of the JSON Schema is not supported.', 'Use draft 04, 06, 07, 2019-09 or 2020-12.'],
  JSON_SCHEMA_EMPTY_BODY: ['The request has no body to validate. The client gets 400.', 'Send a body.'],
  JSON_SCHEMA_ENDLESS: [
    'The schema refers to itself in an endless loop.',
    'Change the schema so that `$ref` forms no loop.',
  ],
  JSON_SCHEMA_FORMAT: ['The format is unknown and not checked.', 'Use one of the formats in the hint.'],
  JSON_SCHEMA_INVALID: ['The JSON Schema is not valid.', 'Correct it at the marked position.'],
  JSON_SCHEMA_KEYWORD: [
    'The keyword is unknown, or the draft of the schema does not define it; it is ignored.',
    'Correct the spelling, or declare another draft in `$schema`.',
  ],
  JSON_SCHEMA_NO_BODY: [
    'Requests with the method of the endpoint have no body to validate.',
    'Set `"method": "POST"`.',
  ],
  JSON_SCHEMA_REFERENCE: [
    'The target of a `$ref` does not exist.',
    'Correct the reference; other documents are not loaded.',
  ],
  JSON_SCHEMA_SYNTAX: ['The request body is not valid JSON. The client gets 400.', 'Correct the body.'],
  JSON_SCHEMA_VIOLATION: ['The request body does not match the schema. The client gets 400.', 'Correct the body.'],
  LUA_CHECKSUM: ['The checksum of a Lua file does not match `md5`.', 'Update `md5`, or restore the file.'],
  LUA_CUSTOM_ERROR: ['A Lua script called `custom_error`.', 'None; the script decides the response.'],
  LUA_ERROR: ['A Lua script failed.', 'Correct the script at the position in the message.'],
  LUA_SYNTAX: [
    'A Lua script has a syntax error, or is longer than 262,144 characters.',
    'Correct it at the position in the message, or shorten it.',
  ],
  LUA_UNUSED: ['`md5` has no effect with `live`.', 'Remove one of the two.'],
  MARTIAN_FAILED: ['A Martian modifier failed to process a request or response.', 'Read the reason in the message.'],
  MARTIAN_INVALID: [
    'The settings of a Martian modifier are not valid.',
    'Correct the configuration as the message says.',
  ],
  MARTIAN_WITHOUT_EFFECT: ['A Martian modifier never applies.', 'Correct the scope of the modifier, or remove it.'],
  PROXY_FLATMAP_ARGS: [
    'A flatmap operation has the wrong number of paths.',
    'Write two paths for `move` and `append`, at least one for `del`.',
  ],
  PROXY_FLATMAP_TYPE: ['The flatmap operation has no effect.', 'Write `move`, `del` or `append`.'],
  PROXY_IDLE: [
    'A setting of `proxy` has no effect.',
    'Remove it, or add the component or field that the message names.',
  ],
  PROXY_PROPAGATED: [
    'The settings in `sequential_propagated_params` are not valid.',
    'Set `sequential`, and refer to earlier backends.',
  ],
  PROXY_SHADOW_RAW: ['A shadow cannot be used with this output encoding.', 'Use an output encoding such as `json`.'],
  PROXY_STATIC_RAW: [
    'Static data cannot be added to a response that passes undecoded.',
    'Use an output encoding such as `json`.',
  ],
  RESPONSE_BODY_RAW: [
    'The modifiers have no effect, because the response is not decoded.',
    'Use an encoding that decodes.',
  ],
  RESPONSE_SCHEMA_STREAM: [
    'A stream cannot be validated, because it is sent before it is complete.',
    'Use another output encoding.',
  ],
  RESPONSE_SCHEMA_VIOLATION: ['The response does not match its schema.', 'Correct the backend or the schema.'],
  SOAP_UNESCAPED: ['A template prints a value without escaping XML.', 'Add `| xmlEscape` to the action.'],
  TEMPLATE_BASE64: ['`template` is not valid base64.', 'Encode the template with `base64`, or name a file in `path`.'],
  TEMPLATE_BODY: ['A template cannot read the body.', 'Check the encoding of the body.'],
  TEMPLATE_OUTPUT: [
    'The output of a template is not valid for its content type.',
    'Correct the template; print texts with `toJson` or `xmlEscape`.',
  ],
  TEMPLATE_STREAM: [
    'A template requires a complete response, but the endpoint streams, or the template renders no JSON or XML for the messages of a stream.',
    'Set `"output_encoding": "no-op"` or `sse`, or `"content_type": "application/json"`.',
  ],
  TEMPLATE_TWICE: ['A component and its alias are both configured.', 'Remove one of them.'],
  TEXT_LIMIT: ['Replacements made a text too long.', 'Shorten the replacement.'],
  URL_REWRITE_EMPTY: ['No rewrites are configured.', 'Add `literal` or `regexp`.'],
  URL_REWRITE_PATH: ['A path does not start with `/`.', 'Add the slash.'],
  WORKFLOW_DEPTH: ['Workflows are nested too deeply.', 'Flatten them.'],
  WORKFLOW_HOST: [
    'The backend with a workflow has hosts, which are never called.',
    'Move the hosts to the backends of the workflow.',
  ],
  WORKFLOW_PARAMETER: [
    'A parameter of the workflow has no value.',
    'Declare the parameter in the path of the endpoint.',
  ],
  HTTP_ERRORS_ALIAS: ['Two backends use one alias for error details.', 'Use different aliases.'],
  HTTP_ERRORS_BOTH: ['`return_error_details` and `return_error_code` cannot be combined.', 'Remove one of the two.'],
  HTTP_ERRORS_NONE: ['`backend/http` has no setting.', 'Set `return_error_details` or `return_error_code`.'],
  HTTP_ERRORS_RAW: [
    "`backend/http` has no effect, because the backend's response is passed to the client unchanged.",
    'Remove it.',
  ],
  HTTP_ERRORS_SEVERAL: ['`return_error_code` has no effect with several backends.', 'Use `return_error_details`.'],
  COMPONENT_REQUIRED: [
    'A component depends on a component that is not configured.',
    'Add the component that the message names.',
  ],
  COMPONENT_UNUSED: [
    'A component has no effect without a component that is not configured.',
    'Add the component that the message names, or remove this one.',
  ],
  STATIC_HIDES: [
    'An endpoint is never reached, because static files are served at its path.',
    'Add the path of the endpoint to `skip`.',
  ],
  STATIC_PATH: [
    'The directory of static files is not valid.',
    'Set `path` to an existing directory, relative to the working directory.',
  ],
  VIRTUAL_ALIAS: ['The alias of a virtual host is not valid.', 'Use lower-case letters, digits and `_`.'],
  VIRTUAL_HOST: ['A virtual host is not valid or is repeated.', 'Correct the name.'],
};

/** Error codes of plugins, their isolation, and modules of KrakenD. */
export const pluginErrors: Codes = {
  GEOIP_DATABASE: ['The geolocation database is not valid.', 'Use a City database in the format MMDB.'],
  GEOIP_FILE: ['The geolocation database cannot be read.', 'Correct `citydb_path` or the permissions.'],
  PLUGINS_CONFLICT: ['Two plugins cannot be combined in this place.', 'Remove one of them.'],
  PLUGIN_ATTACH: [
    'The `attach` function of a plugin failed.',
    'Correct the plugin at the position that the message names.',
  ],
  PLUGIN_BODY: ['An isolated plugin cannot read or write the body.', 'Read the reason in the message.'],
  PLUGIN_DUPLICATE: ['Two files provide a plugin of the same name.', 'Rename one of them.'],
  PLUGIN_ERROR: ['A handler of a plugin threw an error.', 'Correct the plugin; the log has the stack.'],
  PLUGIN_FACTORY: ['The factory function of a plugin module failed.', 'Correct the plugin or its settings.'],
  PLUGIN_FAULT: [
    'A plugin failed to process a request. The client gets 500.',
    'Correct the plugin; the log names its file and line.',
  ],
  PLUGIN_FIELD: ['A key is not the name of a configured plugin.', 'Add the plugin to `name`, or correct the spelling.'],
  PLUGIN_FOLDER: [
    'The plugin folder cannot be used, or `plugin.pattern` selects compiled plugins.',
    'Correct `plugin.folder`, add a plugin to it, or remove `plugin`.',
  ],
  PLUGIN_HIDDEN: [
    'A component can respond by itself, so components that run after it may never run.',
    'Remove the components that the message names.',
  ],
  PLUGIN_INVALID: [
    'A file does not export a valid plugin.',
    'Correct the module as the message says; `sluice plugin check` reports all errors of the file.',
  ],
  PLUGIN_LOAD: ['A plugin file cannot be loaded.', 'Correct the error at the marked position.'],
  PLUGIN_MODULE: ['A plugin module is not valid.', 'Correct the configuration as the message says.'],
  PLUGIN_NAME: ['The gateway already has a plugin of this name.', 'Rename the plugin.'],
  PLUGIN_NEXT: [
    'A plugin received an error from the rest of the pipeline, or called `next` with invalid arguments.',
    'Read the cause in the message.',
  ],
  PLUGIN_NONE: ['A file exports no plugin.', 'Export `plugin`, or remove the file from the folder.'],
  PLUGIN_NOT_SERVED: [
    'The configuration to check uses other plugins than the active configuration.',
    'Use a token with the scope `write` for the check, or use the active plugins.',
  ],
  PLUGIN_PACKAGE: ['A plugin package cannot be found or loaded.', 'Install the package where the gateway runs.'],
  PLUGIN_RESPONSE: [
    'A plugin returned a value that is not a response.',
    'Return a response with status, headers and body.',
  ],
  PLUGIN_SETTINGS: [
    'The settings of a plugin are not valid.',
    'Correct the configuration as the message says; the message comes from the schema of the plugin.',
  ],
  PLUGIN_SUSPENDED: [
    'A plugin failed so often that it is suspended. The client gets 503.',
    'Correct the plugin; a reload attaches it again.',
  ],
  PLUGIN_UNKNOWN: [
    'None of the loaded plugins provides this name.',
    'Correct the name, or add the file of the plugin to the folder.',
  ],
  PLUGIN_UNUSED: ['Settings are given for a plugin that is not in `name`.', 'Add the plugin to `name`.'],
  PLUGIN_WORKERS: [
    'Plugins defined in code cannot be used with workers.',
    'Run the gateway in one process, or load the plugins from files.',
  ],
  WILDCARD_CLIENT: [
    'No `wildcard` of `plugin/http-server` matches the endpoint.',
    'Remove the client; wildcard endpoints append the rest of the path.',
  ],
  WILDCARD_ENDPOINT: ['The endpoint of a wildcard does not exist.', 'Correct the path.'],
  WILDCARD_FORM: ['The settings of the old plugin `wildcard` are not valid.', 'Write the settings as in the hint.'],
  WILDCARD_PREFIX: [
    'A prefix of the old plugin `wildcard` is not valid or is repeated.',
    'Make the change that the hint proposes.',
  ],
};
