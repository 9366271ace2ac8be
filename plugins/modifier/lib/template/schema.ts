import type { Infer } from '#contract';

/** Example templates in base64: `{"id":{{ toJson .req_params.Id }}}` for requests, and `{"name":{{ toJson .resp_body.name }}}` for responses. */
export const requestExample = 'eyJpZCI6e3sgdG9Kc29uIC5yZXFfcGFyYW1zLklkIH19fQ==';
export const responseExample = 'eyJuYW1lIjp7eyB0b0pzb24gLnJlc3BfYm9keS5uYW1lIH19fQ==';

/** Schema of a generator's settings. @param template an example, in base64. */
export function generatorSchema<const Template extends string>(template: Template) {
  return {
    type: 'object',
    exactlyOneOf: [['path', 'template']],
    examples: [{ template }, { template, content_type: 'text/plain', debug: true, variables: { team: 'checkout' } }],
    properties: {
      path: {
        type: 'string',
        minLength: 1,
        description: 'Template file, relative to the working directory.',
        examples: ['./order.tmpl'],
      },
      template: {
        type: 'string',
        minLength: 1,
        description: 'Base64-encoded template in the Go text/template language, with the Sprig functions.',
        examples: [template],
      },
      content_type: {
        type: 'string',
        pattern: '^[\\x20-\\x7e]+$',
        description: 'Content-Type of the rendered body.',
        default: 'application/json',
      },
      debug: {
        type: 'boolean',
        description: 'Logs the input and the output of the template at DEBUG.',
        default: false,
      },
      variables: {
        type: 'object',
        description: 'Custom values, available to the template as .variables.',
        default: {},
        examples: [{ team: 'checkout' }],
      },
    },
  } as const;
}

export type GeneratorConfig = Infer<ReturnType<typeof generatorSchema>>;
