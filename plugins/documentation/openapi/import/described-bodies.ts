import { type Data, type DataObject, isObject } from '#contract';
import type { Schemas } from '../export/schemas.ts';
import type { SpecMedia, SpecOperation } from './operations.ts';
import type { Resolver } from './resolver.ts';

const SHARED = '#/components/schemas/';

/** Context for converting bodies. */
interface Describing {
  readonly resolver: Resolver;
  readonly schemas: Schemas;
  readonly report: (pointer: string, message: string) => void;
}

/** Converts request bodies to a `request_definition`. */
export function describedBodies(
  { body, bodyDescription, method, path }: SpecOperation,
  { schemas, resolver }: Describing,
): DataObject[] {
  return body.map((media) => ({
    content_type: media.type,
    ...(bodyDescription !== undefined && { description: bodyDescription }),
    ...describedMedia(media, schemas, resolver, `${method.toLowerCase()}${path}Request`),
  }));
}

/** Converts responses to a `response_definition`: one media type per status, JSON if available. */
export function describedResponses(
  { responses, pointer, method, path }: SpecOperation,
  { schemas, resolver, report }: Describing,
): DataObject {
  const described = responses.flatMap(({ status, description, media }): [string, DataObject][] => {
    const isKnown = status === 'default' || /^[1-5]\d\d$/.test(status);
    if (!isKnown) {
      if (!status.startsWith('x-'))
        report(
          pointer,
          `the response '${status}' cannot be documented: the key must be a status code from 100 to 599 or "default"`,
        );
      return [];
    }
    const chosen = media.find(({ type }) => /[/+]json\b/i.test(type)) ?? media[0];
    return [
      [
        status,
        {
          ...(description && { description }),
          ...(chosen && {
            content_type: chosen.type,
            ...describedMedia(chosen, schemas, resolver, `${method.toLowerCase()}${path}Response${status}`),
          }),
        },
      ],
    ];
  });
  return Object.fromEntries(described);
}

/** Returns either an example or a schema, which cannot be combined. */
function describedMedia(
  { schema, example, examples }: SpecMedia,
  schemas: Schemas,
  { document }: Resolver,
  name: string,
): DataObject {
  if (schema !== undefined) {
    const written = schemas.add(schema, name, document);
    if (isObject(written) && typeof written['$ref'] === 'string' && written['$ref'].startsWith(SHARED)) {
      return { ref: written['$ref'].slice(SHARED.length), ...sampleOf(example, examples) };
    }
    if (!isObject(written) || Object.keys(written).length > 0) return { example_schema: written };
  }
  return sampleOf(example, examples);
}

function sampleOf(example: Data | undefined, examples: DataObject | undefined): DataObject {
  if (example !== undefined) return { example };
  return examples && Object.keys(examples).length > 0 ? { examples } : {};
}
