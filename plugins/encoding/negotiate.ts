import { type DataObject, definePlugin, type Encoded } from '#contract';
import { writeXml } from '../engines/documents/xml/writer.ts';
import { writeYaml } from '../engines/documents/yaml/writer.ts';
import { writeJson } from './lib/json-body.ts';

type Writer = (data: DataObject | null) => Encoded;

const writers: ReadonlyMap<string, Writer> = new Map([
  ['application/json', writeJson],
  ['application/*', writeJson],
  ['*/*', writeJson],
  ['application/xml', writeXml],
  ['application/yaml', writeYaml],
  ['application/x-yaml', writeYaml],
  ['text/plain', writeYaml],
  ['text/*', writeYaml],
]);

/**
 * Encodes data in the first supported media type of `Accept`, in the order of the header; parameters, including `q`,
 * are ignored. Uses JSON if no type is supported.
 */
function encode(data: DataObject | null, accept: string | undefined): Encoded {
  return writerFor(accept)(data);
}

function writerFor(accept: string | undefined): Writer {
  if (accept === undefined) return writeJson;
  for (const entry of accept.split(',')) {
    const parameters = entry.indexOf(';');
    const type = (parameters < 0 ? entry : entry.slice(0, parameters)).trim().toLowerCase();
    const writer = writers.get(type);
    if (writer) return writer;
  }
  return writeJson;
}

/** Encoding that the client chooses with `Accept`. Output only. */
export const plugin = definePlugin({
  name: 'encoding/negotiate',
  description: "Writes JSON, YAML or XML according to the client's Accept header.",
  encodings: [{ name: 'negotiate', encode }],
});
