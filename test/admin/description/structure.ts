/** The parts of OpenAPI 3.1 that a description may be made of, as JSON Schema; anything else is a slip. */
const text = { type: 'string', minLength: 1 };
const schema = { $ref: 'https://json-schema.org/draft/2020-12/schema' };

const object = (properties: Readonly<Record<string, object>>, ...required: string[]): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const map = (pattern: string, values: object): object => ({
  type: 'object',
  patternProperties: { [pattern]: values },
  additionalProperties: false,
  minProperties: 1,
});

const content = map('^[a-z]+/[a-z0-9.+*-]+$', object({ schema }, 'schema'));

const parameter = object(
  { name: text, in: { enum: ['path', 'query', 'header'] }, description: text, required: { type: 'boolean' }, schema },
  'name',
  'in',
  'required',
  'schema',
);

const operation = object(
  {
    operationId: { type: 'string', pattern: '^[a-z][A-Za-z0-9]*$' },
    summary: text,
    parameters: { type: 'array', items: parameter, minItems: 1 },
    requestBody: object({ content }, 'content'),
    responses: map('^[2-5][0-9]{2}$', object({ description: text, content }, 'description')),
    security: { type: 'array', items: { type: 'object', additionalProperties: { type: 'array', items: text } } },
  },
  'operationId',
  'summary',
  'responses',
  'security',
);

const securityScheme = object(
  { type: { const: 'http' }, scheme: { const: 'bearer' }, description: text },
  'type',
  'scheme',
);

export const documentSchema = object(
  {
    openapi: { const: '3.1.0' },
    info: object({ title: text, version: text, description: text }, 'title', 'version'),
    paths: map('^/', map('^(?:get|put|post|patch|delete)$', operation)),
    components: object({ schemas: map('^[A-Z]', schema), securitySchemes: map('^[a-z]', securityScheme) }),
  },
  'openapi',
  'info',
  'paths',
);
