import { deepEqual } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** A text that users read, with its place. */
interface Text {
  readonly place: string;
  readonly text: string;
}

const sources = globSync('{kernel,plugins,admin}/**/*.ts').sort();

/** Schema descriptions and messages: literals of at least three words. Code samples, which contain line breaks, are skipped. */
const { descriptions, messages } = (() => {
  const found = { descriptions: [] as Text[], messages: [] as Text[] };
  for (const file of sources) {
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
        const text = node.getText().slice(1, -1);
        const { line } = source.getLineAndCharacterOfPosition(node.getStart());
        const { parent } = node;
        const isDescription = ts.isPropertyAssignment(parent) && parent.name.getText() === 'description';
        const isSentence = text.split(' ').length >= 3 && !text.includes('\n');
        if (isSentence) found[isDescription ? 'descriptions' : 'messages'].push({ place: `${file}:${line + 1}`, text });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
})();

/** Constructions that no engineer would say, each with the usual one. */
const banned: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(is|are) no (?!longer\b|more\b)[a-z$]/, 'is not a valid …'],
  [/\b(is|are) none\b/, 'is not valid'],
  [/\bthere (is|are) no\b/, 'does not exist'],
  [/\b(nobody|anybody|whoever|whomever)\b/i, 'no client, any user'],
  [/\b(whatever|wherever)\b/i, 'regardless of'],
  [/\bturn(s|ed)? away\b/, 'rejected'],
  [/\b(is|are|was|be) told\b/, 'is notified, is reported'],
  [/\btells? (of|that|what|whether|how|where|which)\b/, 'reports, shows'],
  [/\b(is|are) asked for\b|\basks? for\b/, 'requests, requires'],
  [/\blets? (requests )?pass\b/, 'accepts'],
  [/\b(that|those) of (the|its|a|an)\b/, 'repeat the noun'],
  [/\bstands? (in|at|for|there|twice|beside|before|behind)\b/, 'is in, is configured next to'],
  [/\bgo(es)? on\b/, 'continues'],
  [/\bbesides?\b/, 'in addition to, next to'],
  [/\bany more\b/, 'no longer'],
  [/\bleads? nowhere\b/, 'does not exist'],
  [/\bgives? way\b/, 'is less specific, is replaced'],
  [/\b(comes?|begins?) again\b/, 'is redelivered, starts again'],
  [/\b\d* ?mistakes?\b/, 'errors'],
];

/** First words that hide the subject of a sentence, or that only a question starts with. */
const hiddenSubject = /^(what|who|whose|whom|how|where|whether|that|those|it|anything|which|after which)\b/i;

/** Parts of the source whose comments are held to the rules as well. */
const revised = [
  'admin',
  'kernel/{cli,containment,contract,control,gateway,inspect,logging,mcp,pipeline,server,testing,workers}',
  'plugins',
];

/** Constructions that comments may use: a null that means "none", and a repeated "that of". */
const allowedInComments = new Set([
  'is not a valid …',
  'is not valid',

  'repeat the noun',
  'regardless of',
]);

/** Comments of the revised parts, by the line on which each begins. */
function comments(): Text[] {
  return globSync(revised.map((part) => `${part}/**/*.ts`)).flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const scanner = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const found = new Map<number, Text>();
    const visit = (node: ts.Node): void => {
      for (const { pos, end } of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) {
        const { line } = scanner.getLineAndCharacterOfPosition(pos);
        const words = text.slice(pos, end).replaceAll(/^\s*(\/\*\*|\/\/|\*\/?)|\*\/$/gm, '');
        found.set(pos, { place: `${file}:${line + 1}`, text: words.replaceAll(/\s+/g, ' ').trim() });
      }
      ts.forEachChild(node, visit);
    };
    visit(scanner);
    return [...found.values()];
  });
}

/** Words that a placeholder or a quoted value brings along: `${mistakes}`, `${trouble.message}`. */
const withoutPlaceholders = (text: string) => text.replaceAll(/\$\{[^}]*\}/g, '…');

type Ban = (typeof banned)[number];

function violations(texts: readonly Text[], holds: (ban: Ban) => boolean = () => true): string[] {
  const bans = banned.filter(holds);
  return texts.flatMap(({ place, text }) => {
    const prose = withoutPlaceholders(text);
    const broken = bans.find(([construction]) => construction.test(prose));
    return broken ? [`${place}  say "${broken[1]}": ${text}`] : [];
  });
}

describe('the words of the product', () => {
  it('use the usual constructions in descriptions of fields', () => deepEqual(violations(descriptions), []));

  it('use the usual constructions in messages, hints and log lines', () => deepEqual(violations(messages), []));

  it('use the usual constructions in comments of the revised parts', () => {
    const broken = violations(comments(), ([, usual]) => !allowedInComments.has(usual));
    deepEqual(broken, []);
  });

  it('name the thing first in comments of the revised parts', () =>
    deepEqual(
      comments().filter(({ text }) => /^(what|who|whose|whom|how|where|that|those|which)\b/i.test(text)),
      [],
    ));

  it('name the value first in descriptions', () =>
    deepEqual(
      descriptions.filter(({ text }) => hiddenSubject.test(text)),
      [],
    ));

  it('end descriptions with a full stop', () =>
    deepEqual(
      descriptions.filter(({ text }) => !/[.…:]$|%\{path\}$/.test(text)),
      [],
    ));
});
