import { type JsonSchema, toPublicSchema } from '../config/index.ts';
import { version } from '../version.ts';
import { fileSchema } from './schema.ts';
import { specSchema } from './spec-schema.ts';

/** The JSON Schema of files with tests, for editors: the gateway's own form, and specs of KrakenD. */
export function testsSchema(): JsonSchema {
  const [tests, spec] = [fileSchema, specSchema].map(toPublicSchema);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: `urn:sluice:schema:${version}:tests`,
    title: 'Tests of a configuration',
    if: { type: 'object', required: ['in'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: spec,
    else: tests,
  };
}
