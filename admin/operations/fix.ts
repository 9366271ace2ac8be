import type { ConfigError } from '#contract';
import {
  ConfigErrors,
  ConfigText,
  type Document,
  describeEdit,
  mendDocument,
  mendText,
  type Operations,
  parseDocument,
  type Reach,
  readSnapshot,
} from '#kernel';
import { acceptedConfigs, demandConfigBody } from '../body.ts';
import { reachOf } from '../caller.ts';
import type { Operation } from '../operation.ts';
import { queryText } from '../parameters.ts';
import { Problem } from '../problem.ts';
import { jsonResponse, listOf, objectOf, text } from '../schemas.ts';

/** Maximum length of a text, in characters: each correction parses it again, on the thread of the admin port. */
const MAX_LENGTH = 512 * 1024;

export const fix: Operation = {
  method: 'POST',
  path: '/v1/fix',
  scope: 'check',
  summary:
    'Correct the errors of a configuration that have a single possible correction (`fixable`), like `sluice check --fix`. Changes nothing in the gateway.',
  parameters: [
    {
      name: 'pointer',
      in: 'query',
      description:
        'JSON pointer of the only error to correct. Default: all errors. Syntax errors are always corrected.',
      schema: text,
    },
  ],
  accepts: acceptedConfigs,
  responses: {
    200: jsonResponse(
      'The corrected text with the same layout and comments, and one line for each correction.',
      objectOf('Fixed', { text, changes: listOf(text) }),
    ),
  },
  problems: ['syntax'],
  async handle(ctx, admin) {
    const given = await demandConfigBody(ctx, admin);
    if (given.text.length > MAX_LENGTH) {
      const detail = `texts of more than ${MAX_LENGTH} characters are not corrected: use sluice check --fix`;
      throw new Problem('payload-too-large', detail);
    }
    const file = `configuration.${given.format}`;
    const pointer = queryText(ctx, 'pointer');
    const readable = mendText(given.text, file);
    const changes = readable.made.map(({ position, reason }) => `${position!.line}:${position!.column}: ${reason}`);
    const document = parsed(readable.text, file);
    if (!document) {
      // Errors without a single correction remain.
      if (changes.length === 0) parseDocument(readable.text, file);
      ctx.body = { text: readable.text, changes };
      return;
    }
    const reach = reachOf(ctx);
    const find = async (each: Document): Promise<readonly ConfigError[]> => {
      // Masked secrets stay masked: no correction can contain one of the serving configuration.
      const found = await examined(admin.gateway, new ConfigText(each.text, given.format), reach);
      return pointer === undefined ? found : found.filter((error) => error.pointer === pointer);
    };
    const mended = await mendDocument(document, find, describeEdit);
    const lines = mended.lines.map((line) => line.trimEnd().replace(`${file}:`, ''));
    ctx.body = { text: mended.document.text, changes: [...changes, ...lines] };
  },
};

function parsed(source: string, file: string): Document | null {
  try {
    return parseDocument(source, file);
  } catch (error) {
    if (error instanceof ConfigErrors) return null;
    throw error;
  }
}

/** Errors and warnings of a configuration. */
async function examined(gateway: Operations, source: ConfigText, reach: Reach): Promise<readonly ConfigError[]> {
  try {
    const { warnings } = await gateway.examine(await readSnapshot(source, undefined, 'aside'), reach, true);
    return warnings;
  } catch (error) {
    if (error instanceof ConfigErrors) return error.errors;
    throw error;
  }
}
