import { findingsOf } from '../../kernel/cli/formats/report.ts';
import { toolServices } from '../../kernel/cli/tools.ts';
import { type Issue, parseDocument, UnreadableError } from '../../kernel/config/index.ts';
import { ConfigErrors } from '../../kernel/contract/internal.ts';
import { Registry } from '../../kernel/registry/registry.ts';
import { examine } from '../../kernel/runtime/build/build.ts';
import { catalogue } from '../../plugins/index.ts';

/** Registry with all plugins, which are loaded once for all texts. */
const registry = new Registry(catalogue, toolServices());

/** Issues that `check -t` reports for a text, by place, errors before warnings. @param file determines the format by its extension. */
export async function inspect(text: string, file: string): Promise<readonly Issue[]> {
  try {
    const document = parseDocument(text, file);
    const { errors, warnings } = await examine(document.data, {}, registry, true);
    const match = findingsOf(file, document, errors, [...document.warnings, ...warnings]);
    return [...match.errors, ...match.warnings];
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    return findingsOf(file, error instanceof UnreadableError ? error : null, error.errors).errors;
  }
}
