export const text = (description: string, ...examples: string[]) =>
  ({ type: 'string', description, ...(examples.length > 0 && { examples }) }) as const;

/** Schema of an object with arbitrary keys, which are part of an external format. */
export const freeObject = (description: string) => ({ type: 'object', description }) as const;

/** A JSON Schema as an object, or as its JSON in base64. */
export const jsonSchema = (description: string) =>
  ({ anyOf: [{ type: 'object' }, { type: 'string' }, { type: 'boolean' }], description }) as const;

export const comment = { '@comment': text('Note for readers of the configuration.') } as const;

const hide = {
  type: 'boolean',
  description: 'Excludes the parameter or endpoint from documents.',
  default: false,
} as const;

const parameterTypes = ['integer', 'number', 'string', 'boolean', 'object', 'array', 'float', 'date-time'] as const;
const parameterFormats = ['', 'int32', 'int64', 'float', 'double', 'date', 'date-time', 'byte', 'uuid'] as const;

export const parameterFields = {
  name: { type: 'string', minLength: 1, description: 'Parameter name, as written in the endpoint.' },
  description: text('Description, in Markdown.'),
  type: { type: 'string', enum: parameterTypes, description: 'Value type.', default: 'string' },
  enum: { type: 'array', items: { type: 'any' }, description: 'Allowed values.' },
  hide,
  ...comment,
} as const;

export const optional = {
  type: 'boolean',
  description: 'Marks the parameter as required in the generated documentation. Not enforced by the gateway.',
  default: false,
} as const;

export const formatField = { type: 'string', enum: parameterFormats, description: 'Value format.' } as const;
export const exampleField = { type: 'any', description: 'Example value.' } as const;
export const examplesField = freeObject('Named examples, instead of a single one.');

/** Fields that describe the body of a request or a response. */
export const bodyFields = {
  description: text('Body description, in Markdown.'),
  example: { type: 'any', description: 'Example body.' },
  examples: examplesField,
  example_schema: jsonSchema('The JSON Schema of the body, as an object or as its JSON in base64.'),
  ref: { type: 'string', minLength: 1, description: 'Name of the schema in components_schemas.' },
  ...comment,
} as const;

/** Fields of a response description. */
export const responseFields = {
  content_type: text('Media type. Default: the media type of the output encoding.'),
  ...bodyFields,
} as const;
