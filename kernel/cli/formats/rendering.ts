import { maskSecrets, type Rendering } from '../../config/index.ts';
import { printable } from './excerpt.ts';

/** Maximum number of files listed; the rest are counted. */
const MAX_NAMED = 10;

/** Describes how a configuration was rendered from a template, as lines; empty without a template. */
export function showRendering(rendering: Rendering | undefined): string {
  if (!rendering) return '';
  const { files, out, variables } = rendering;
  const named = files.slice(0, MAX_NAMED).map(printable).join(', ');
  const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : '';
  const made = files.length === 0 ? 'Rendered from the template only' : `Rendered with ${named}${more}`;
  const written = out === null ? '' : `, written to ${printable(out)}`;
  const debug = variables === null ? '' : `Variables: ${JSON.stringify(maskSecrets(variables, ''), plain, 2)}\n`;
  return `${made}${written}\n${debug}`;
}

/** Integers in settings are of type bigint. */
function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
