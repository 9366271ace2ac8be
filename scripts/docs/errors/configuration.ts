// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import type { Codes } from './codes.ts';

/** Error codes of reading the configuration file: syntax, versions, templates, environment, edits by commands and the admin API. */
export const fileErrors: Codes = {
  CONFIG_COMMENTS: [
    'A JSON file contains comments, which are not part of JSON: other tools may reject the file.',
    'Remove the comments, or write the file as YAML or TOML.',
  ],
  CONFIG_CONFLICT: [
    'An old name of a setting and its current name are both present.',
    'Keep the current name and delete the old one.',
  ],
  CONFIG_DUPLICATE_KEY: ['A key appears twice in one object.', 'Delete one of the two, or merge their values.'],
  CONFIG_ENVIRONMENT: [
    'An environment variable that replaces a root field is ignored, or its text does not fit the type of the field.',
    'Correct the value of the variable, or unset it.',
  ],
  CONFIG_INCLUDE: [
    'A key that looks like an include directive is read as a comment: no file is included.',
    'Use a template (`FC_ENABLE=1`) with `include` or `template`.',
  ],
  CONFIG_INVALID: [
    'The configuration has errors. The message lists each with its pointer and code.',
    'Correct the listed errors; `sluice check` shows them with their lines.',
  ],
  CONFIG_NOT_SUPPORTED: [
    'The configuration uses a setting, a built-in plugin or a file format that the gateway does not support.',
    'Use the replacement that the hint names, or remove the setting.',
  ],
  CONFIG_OLD_FIELD: [
    'A field of version 2 has no effect in version 3.',
    'Run `sluice migrate --write FILE`, or follow the hint.',
  ],
  CONFIG_OLD_FORM: [
    '`sluice migrate` left plugins in the form of version 3, which works here; KrakenD 3.0 rejects it.',
    'Write `plugins` as a list of names with their settings as `config`, or ignore the line if only Sluice reads the file.',
  ],
  CONFIG_OLD_NAME: ['A namespace or a field has a former name.', 'Run `sluice migrate --write FILE`.'],
  CONFIG_OLD_PLUGIN: [
    'A built-in plugin was replaced by a component. It still works.',
    'Run `sluice migrate --write FILE`, or write the component that the hint shows.',
  ],
  CONFIG_OLD_VERSION: ['The file is of version 2. It is read as version 3.', 'Run `sluice migrate --write FILE`.'],
  CONFIG_READ: [
    'The configuration file cannot be read: it does not exist, is not a regular file, or permissions are missing.',
    'Correct the path or the permissions.',
  ],
  CONFIG_REMOVED: [
    'Version 4 of the format no longer has the component. It works here; KrakenD 3.0 rejects it.',
    'Use `telemetry/opentelemetry`, or ignore the warning if only Sluice reads the file.',
  ],
  CONFIG_SYNTAX: [
    'The text is not valid JSON, YAML or TOML, or is nested too deeply.',
    'Correct the text at the marked position.',
  ],
  CONFIG_VARIABLE: [
    'A placeholder such as `${NAME}` was not replaced: the text is used literally.',
    'Set the environment variable, or write the value in the file.',
  ],
  CONFIG_VERSION: ['`version` is missing, or is not 2, 3 or 4.', 'Write `"version": 3`.'],
  CONFIG_WRITE: [
    'A change through the admin API is active, but the configuration file could not be written.',
    'Make the file and its directory writable for the gateway, or change the file yourself.',
  ],
  EDIT_DUPLICATE_KEY: [
    'A command or the admin API cannot edit a value whose key appears twice in the file.',
    'Remove the duplicate key and repeat the change.',
  ],
  EDIT_IMPOSSIBLE: [
    'The value cannot be edited automatically, for example because an alias or a merge key of YAML produces it.',
    'Change the file by hand.',
  ],
  FILE_UNREADABLE: [
    'A file that a component names cannot be read.',
    'Correct the path, relative to the working directory, or the permissions.',
  ],
  LINT_SCHEMA: [
    'The JSON Schema passed to `sluice check --lint-schema` cannot be compiled or downloaded.',
    'Correct the schema or its address.',
  ],
  PATTERN_INVALID: [
    'A regular expression has a syntax error, or a construct that RE2 does not have, such as a lookahead.',
    'Rewrite the expression in RE2 syntax.',
  ],
  SECRET_LITERAL: [
    'A secret is stored in the file in plain text.',
    'Replace it by a reference to a store of secrets, such as `${file:/run/secrets/name}`, or by an environment variable, `${NAME}`.',
  ],
  TEMPLATE_INVALID: ['The text of a template cannot be compiled.', 'Correct the template at the marked position.'],
  TEMPLATE_LIMIT: [
    'A template exceeded its limit of steps, time, nesting or output.',
    'Simplify the template or shorten the data that it loops over.',
  ],
  TEMPLATE_OUT: ['The rendered configuration cannot be written to `FC_OUT`.', 'Choose a writable path for `FC_OUT`.'],
  TEMPLATE_REFERENCE: [
    'A file that a template includes or calls does not exist or cannot be read.',
    'Correct the name, or the directories in `FC_TEMPLATES` and `FC_PARTIALS`.',
  ],
  TEMPLATE_SETTINGS: [
    'A settings file of the template cannot be read or is not valid JSON.',
    'Correct the file that the message names, in the directory `FC_SETTINGS`.',
  ],
  TEMPLATE_SYNTAX: ['The template has a syntax error.', 'Correct the template at the marked position.'],
  TEMPLATE_EXECUTION: [
    'The template failed while it was rendered, for example because a function received an argument of the wrong type.',
    'Correct the call at the marked position, or provide the missing value.',
  ],
  TEMPLATE_VARIABLE: [
    'A placeholder of the environment has no value, or its text is not valid in this place.',
    'Set the variable, or give the placeholder a default.',
  ],
};

/** Error codes of validation against the schema, and of namespaces. */
export const schemaErrors: Codes = {
  DURATION_INVALID: [
    'A duration is not valid: a number without a unit, an unknown unit, or a value out of range.',
    'Write a number with a unit: `"300ms"`, `"10s"`, `"1h30m"`.',
  ],
  ENCODING_UNKNOWN: [
    'The encoding does not exist, or cannot be used for this purpose.',
    'Use one of the encodings that the hint lists; see [encodings](encodings.md).',
  ],
  NAMESPACE_LEVEL: [
    'The component is in the `extra_config` of a level at which it has no effect.',
    'Move it to the level that the message names.',
  ],
  NAMESPACE_UNKNOWN: [
    'The namespace is unknown.',
    'Correct the name. For a component of your own, configure the folder or package of the plugin in `plugin`.',
  ],
  OPTION_UNUSED: ['A setting is accepted but has no effect here.', 'Remove the setting, or follow the message.'],
  SCHEMA_CHOICE: [
    'The value matches none of the permitted forms.',
    'Write the value in one of the forms that the message lists.',
  ],
  SCHEMA_DUPLICATE: ['A list contains a value twice.', 'Delete the repeated value.'],
  SCHEMA_ENUM: ['The value is not one of the permitted values.', 'Use one of the values that the message lists.'],
  SCHEMA_EXACTLY_ONE: [
    'Exactly one of several fields is required, and none or more than one is present.',
    'Keep exactly one of the listed fields.',
  ],
  SCHEMA_PATTERN: ['A text does not have the required form.', 'Write the text as in the example of the hint.'],
  SCHEMA_RANGE: [
    'A number, or the length of a text or list, is out of range.',
    'Choose a value in the range that the message states.',
  ],
  SCHEMA_REQUIRED: ['A required field is missing.', 'Add the field.'],
  SCHEMA_TYPE: ['The value has the wrong type.', 'Write a value of the type that the message states.'],
  SCHEMA_UNKNOWN_KEY: ['The object has no field of this name.', 'Correct the spelling, or remove the key.'],
  SCHEMA_UNKNOWN_KEYS: [
    'The object has more unknown keys than the check lists individually.',
    'Correct or remove the listed keys and check again.',
  ],
  SD_UNKNOWN: ['The service discovery method is unknown.', 'Use one of the values that the hint lists.'],
};
