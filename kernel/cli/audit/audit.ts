import { readFileSync } from 'node:fs';
import type { Flags, Severity } from '#contract';
import { severities } from '../../contract/internal.ts';
import {
  type AuditReport,
  audit as auditConfig,
  auditRules,
  type FilePosition,
  positionsIn,
} from '../../inspect/index.ts';
import { oneOf, readArguments, UsageError } from '../arguments.ts';
import { type Command, colourVariables, configVariables } from '../command.ts';
import { acceptFile, configFlag, pluginsFlag } from '../files/accepted-file.ts';
import { requireFile } from '../files/config-file.ts';
import { cannotRead } from '../files/file-errors.ts';
import { showPlace } from '../formats/report.ts';
import { isColoured, type Terminal } from '../terminal.ts';
import { auditAsSarif } from './sarif.ts';
import { compileTemplate, TemplateError, type TemplateFunctions } from './template.ts';

/** Exit code when the audit could not run: wrong flags, or an invalid configuration. */
const REFUSED = 2;

const flags = {
  config: configFlag,
  plugins: pluginsFlag,
  ignore: {
    type: 'string',
    short: 'i',
    value: 'IDS',
    default: '',
    otherwise: 'none',
    about: 'Rules to ignore, separated by commas.',
  },
  'ignore-file': {
    type: 'string',
    short: 'I',
    value: 'FILE',
    about: 'File with rules to ignore, one per line; # starts a comment.',
  },
  severity: {
    type: 'string',
    short: 's',
    value: 'LIST',
    default: severities.join(),
    about: 'Report only rules of these severities.',
  },
  format: {
    type: 'string',
    short: 'f',
    value: 'FORMAT',
    default: 'text',
    about: 'Output format: text, json, sarif, or a template over .Recommendations.',
  },
} as const satisfies Flags;

/**
 * Audits the features that a valid configuration uses and lacks. Exit code 0 for no findings or only notes, 1 for
 * findings, 2 when the audit could not run.
 */
export const audit: Command = {
  usage: '[FILE]',
  flags,
  variables: { ...configVariables, ...colourVariables },
  summary: 'Recommend improvements for the security, performance and observability of a configuration.',
  details: 'Exit codes: 0 no findings, or only notes; 1 findings; 2 the audit could not run.',
  async run(args, context) {
    const { values, positionals } = readArguments(args, flags, true);
    const file = requireFile(values.config, positionals, context);
    const print = printerOf(values.format, context);
    const wanted = new Set(values.severity.split(',').map(parseSeverity));
    const ignore = new Set([...listOf(values.ignore), ...readIds(values['ignore-file'])]);
    const accepted = await acceptFile(file, { ...context, plugins: values.plugins }, false);
    if (!accepted) return REFUSED;
    const { registry } = accepted;
    const rules = await auditRules(registry);
    for (const id of ignore) {
      if (!rules.some((rule) => rule.id === id)) context.stderr.write(`WARNING unknown rule "${id}" in --ignore\n`);
    }
    const { document, config, origin } = accepted;
    const position = positionsIn(document);
    const available = new Set(registry.namespaces);
    const audited = { config, document: document.data, origin };
    const report = auditConfig(audited, rules, {
      available,
      ignore,
      severities: wanted,
      positionOf: position,
      known: registry,
    });
    try {
      context.stdout.write(print(report));
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      throw new UsageError(`bad template: ${error.message}`);
    }
    return report.recommendations.some(({ note }) => !note) ? 1 : 0;
  },
};

function parseSeverity(text: string): Severity {
  return oneOf('severity', text.trim().toUpperCase(), severities);
}

function listOf(text: string): string[] {
  return text
    .replace(/\s/g, '')
    .split(',')
    .filter((id) => id !== '');
}

/** Reads one ID per line; `#` starts a comment. */
function readIds(path: string | undefined): string[] {
  if (path === undefined) return [];
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(cannotRead(path, error));
  }
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((id) => id !== '');
}

const DEFAULT_TEMPLATE =
  '{{range .Recommendations}}{{.Rule}}\t[{{colored .Severity}}]   \t{{.Message}}{{noted .Note}}\t{{places .Instances}}\n{{end}}';

const formats: Readonly<Record<string, (report: AuditReport) => string>> = {
  json: (report) => `${JSON.stringify(report)}\n`,
  sarif: auditAsSarif,
};

/** Returns the printer for a format or template. @throws UsageError for anything else. */
function printerOf(format: string, terminal: Terminal): (report: AuditReport) => string {
  if (Object.hasOwn(formats, format)) return formats[format]!;
  if (format !== 'text' && !format.includes('{{'))
    throw new UsageError(`unknown format "${format}" (one of text, json, sarif, or a template)`);
  try {
    return compileTemplate(format === 'text' ? DEFAULT_TEMPLATE : format, functionsFor(terminal));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new UsageError(`bad template: ${error.message}`);
  }
}

const colours: Readonly<Record<Severity, string>> = { LOW: '32', MEDIUM: '33', HIGH: '31', CRITICAL: '41' };

/** Maximum number of locations per rule in the text format. */
const SHOWN_PLACES = 3;

function listPlaces(places: readonly FilePosition[]): string {
  const shown = places.slice(0, SHOWN_PLACES).map(showPlace).join(', ');
  const more = places.length - SHOWN_PLACES;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

function functionsFor(terminal: Terminal): TemplateFunctions {
  const coloured = isColoured(terminal.stdout, terminal);
  return {
    marshal: (value) => JSON.stringify(value),
    colored: (value) => {
      const colour = Object.hasOwn(colours, String(value)) && colours[value as Severity];
      return coloured && colour ? `\x1b[${colour}m${value}\x1b[0m` : String(value);
    },
    noted: (note) => (note === true ? ' (Note: does not fail the audit.)' : ''),
    places: (instances) => listPlaces(instances as readonly FilePosition[]),
  };
}
