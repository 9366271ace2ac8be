import type { JsonSchema } from '../../kernel/config/index.ts';
import { type Elsewhere, fieldSections } from './fields.ts';
import { jsonBlock, plain } from './markdown.ts';

/** A part of a page, with a heading of its own if there are several of its kind. */
type Headed<T> = T & { readonly heading: string };

/** Content of one page. */
export interface Topic {
  /** Title and, with `.md`, path relative to the folder of all pages. */
  readonly name: string;
  /** Plain text. */
  readonly description: string;
  /** Markdown before the fields: allowed places, order of execution. */
  readonly notes: readonly string[];
  readonly objects: readonly Headed<{ readonly schema: JsonSchema; readonly elsewhere?: Elsewhere }>[];
  /** Complete configurations that `check` accepts. */
  readonly examples: readonly Headed<{ readonly document: Readonly<Record<string, unknown>> }>[];
  /** Markdown after the examples. */
  readonly guide?: readonly string[];
}

/** The page of a topic. */
export function pageOf({ name, description, notes, objects, examples, guide = [] }: Topic): string {
  const isOnly = objects.length === 1;
  const fields = objects.map(({ heading, schema, elsewhere = {} }) => ({
    heading,
    text: fieldSections(schema, elsewhere, isOnly ? 3 : 4, isOnly ? undefined : heading.replace(/^At /, 'at ')),
  }));
  const documents = examples.map(({ heading, document }) => ({ heading, text: jsonBlock(document) }));
  const segments = [
    `# ${name}`,
    plain(description),
    ...notes,
    ...section('Fields', fields),
    ...section(documents.length > 1 ? 'Examples' : 'Example', documents),
    ...guide,
  ];
  return `${segments.join('\n\n')}\n`;
}

function section(title: string, sections: readonly Headed<{ readonly text: string }>[]): string[] {
  const [only] = sections;
  if (!only) return [];
  if (sections.length === 1) return [`## ${title}`, only.text];
  return [`## ${title}`, ...sections.flatMap(({ heading, text }) => [`### ${heading}`, text])];
}
