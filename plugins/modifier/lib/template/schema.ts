import type { Infer } from '#contract';

/** `{"id":{{ toJson .req_params.Id }}}` and `{"name":{{ toJson .resp_body.name }}}`, as they are written. */
export const requestExample = 'eyJpZCI6e3sgdG9Kc29uIC5yZXFfcGFyYW1zLklkIH19fQ==';
export const responseExample = 'eyJuYW1lIjp7eyB0b0pzb24gLnJlc3BfYm9keS5uYW1lIH19fQ==';

/** The configuration of a generator. @param template an example, in base64. */
export function generatorSchema<const Template extends string>(template: Template) {
  return {
    type: 'object',
    exactlyOneOf: [['path', 'template']],
    examples: [{ template }, { template, content_type: 'text/plain', debug: true, variables: { team: 'checkout' } }],
    properties: {
      path: {
        type: 'string',
        minLength: 1,
        description: 'File of the template, relative to the working directory.',
        examples: ['./order.tmpl'],
      },
      template: {
        type: 'string',
        minLength: 1,
        description: "The template in base64: the language of Go's text/template, with the functions of Sprig.",
        examples: [template],
      },
      content_type: {
        type: 'string',
        pattern: '^[\\x20-\\x7e]+$',
        description: 'Type of what the template makes.',
        default: 'application/json',
      },
      debug: { type: 'boolean', description: 'Log what goes in and comes out at DEBUG.', default: false },
      variables: {
        type: 'object',
        description: 'Values of your own, reached as .variables.',
        default: {},
        examples: [{ team: 'checkout' }],
      },
    },
  } as const;
}

export type GeneratorConfig = Infer<ReturnType<typeof generatorSchema>>;
