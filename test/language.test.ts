import { deepEqual } from 'node:assert/strict';
import {
  comments,
  type Description,
  literals,
  luaComments,
  paragraphs,
  rules,
  type Text,
  titles,
} from './language/texts.ts';

/** Constructions that no engineer would say, each with the usual one. */
const banned: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(is|are) no (?!longer\b|more\b)[a-z$…]/, 'is not a valid …'],
  [/\b(is|are) none\b/, 'is not valid'],
  [/\bthere (is|are|was|were) no\b/, 'does not exist'],
  [/\b(is|are|was|were) looked at\b/, 'is examined'],
  [/\b(unless|if|when|not|only) (asked|told) (to|so)\b/, 'on request, with the setting'],
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
  [/\bmistakes?\b/, 'errors'],
  [/\bhand(s|ed)? on\b/, 'forwards'],
  [/\bexcludes? each other\b/, 'cannot be combined'],
  [/\bwithout end\b/, 'endless, in a loop'],
  [/\b(is|are|was|were) refused where\b/, 'is rejected if'],
  [/\bof which nothing\b|\bwhat is said of\b/, 'without …, the description of'],
  [
    /\bheeds?\b|\bas ever\b|\bserves? on\b|\b(is|are) as (it|they) (is|are|was|were)\b/,
    'respects, as before, unchanged',
  ],
  [/(?<![`'/])\bcancell(ed|ing)\b/, 'canceled, canceling'],
  [/\bcompatible products?\b/i, 'KrakenD'],
  [/\bbroke off\b|\bgave (it )?up\b|\btook its place\b/, 'ended early, stopped retrying, replaced it'],
  [
    /\bexclude one another\b|\bknows? nothing of\b|\bnothing (is|was) (told|said)\b/,
    'cannot be combined, is not informed',
  ],
  [/\b(is|are|was|were) (seen|thought) of\b|\b(is|are) there too\b/, 'also exists'],
  [/\b(has|have|had) it that\b|\bis of no use\b|\bto no avail\b/, 'without effect'],
  [
    /\bsomebody\b|\bkept apart\b|\bcannot be had\b|\bas (it|they) came\b|\bswallow/,
    'another client, separate, unavailable, unchanged',
  ],
  [/^See `/, 'the thing itself, without a reference to another comment'],
  [/\b(left|leaves) out\b/, 'omitted, omits'],
  [
    /\bEmpty (accepts|allows|disables|keeps|listens|means|omits|redirects|rejects|removes|sends|uses|writes)\b/,
    'If empty, …',
  ],
  [/\ban installed Sluice\b|\brefusals\b|\bthe refusal of\b|\bverdicts?\b/, 'Sluice installed, rejection, result'],
  [/\bmisses an? (part|field)\b|\bgoes? missing\b/, 'fields are missing'],
  [/\b(at|of|for) (one|each) place of (a|the|one) configuration\b/, 'for an endpoint, backend or the service'],
  [/^Most (?!recently\b|\w+( and \w+)? (keep|name|are|do|call)\b)/, 'Maximum number of …'],
];

/** First words that hide the subject of a sentence, or that only a question starts with. */
const hiddenSubject = /^(what|who|whose|whom|how|where|whether|that|those|it|anything|which|after which)\b/i;

/** First words of a description that are neither a noun phrase nor a verb. */
const notTheThing =
  /^(also|always|although|as|at|because|by|despite|either|for|from|if|in(?!-)|must|not|on|to|when|with|without|you)\b/i;

/** Constructions that comments may use. */
const allowedInComments = new Set(['repeat the noun', 'regardless of']);

/** Placeholders and quoted names are not prose: `${mistakes}`, `"no_local"`. */
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

/**
 * True for a field that has a value even if it is not written: a number, a duration, a switch or a choice. A text may
 * be absent, and a field without effect has no default.
 */
function needsDefault({ members, isRequired, field }: Description): boolean {
  const isValue = /^'(integer|number|boolean|duration)'/.test(members.get('type') ?? '') || members.has('enum');
  return field !== '' && isValue && !isRequired && !members.has('unused') && !members.has('default');
}

/** The texts that match a rule, one line each. */
const linesOf = <T extends Text>(texts: readonly T[], breaks: (text: T) => boolean) =>
  texts.filter(breaks).map(({ place, text }) => `${place}  ${text}`);

/** Letters and digits of a text, without an article and a plural. */
const bare = (text: string) =>
  text
    .toLowerCase()
    .replace(/^(the|an?) /, '')
    .replaceAll(/[^a-z0-9]/g, '')
    .replace(/s$/, '');

describe('the texts of the product', function () {
  // Every file of the tree is read.
  this.timeout(120_000);
  let descriptions: readonly Description[];
  let messages: readonly Text[];
  let sourceComments: readonly Text[];

  before(() => {
    ({ descriptions, messages } = literals());
    sourceComments = [
      ...comments('{admin,kernel,plugins,samples,test}/**/*.{ts,tsx}', 'scripts/**/*.{ts,mjs}'),
      ...luaComments('samples/**/*.lua'),
    ];
  });

  it('avoid banned constructions in descriptions of fields', () => deepEqual(violations(descriptions), []));

  it('avoid banned constructions in messages, hints and log lines', () => deepEqual(violations(messages), []));

  it('avoid banned constructions in comments', () => {
    const broken = violations(sourceComments, ([, usual]) => !allowedInComments.has(usual));
    deepEqual(broken, []);
  });

  it('avoid banned constructions in the README, the changelog and the guides', () =>
    deepEqual(violations(paragraphs('README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'samples/**/*.md')), []));

  it('avoid banned constructions in titles of tests', () => {
    const broken = violations(titles('test/**/*.ts'), ([, usual]) => usual !== 'repeat the noun');
    deepEqual(broken, []);
  });

  it('avoid banned constructions in rules of the specification', () => deepEqual(violations(rules()), []));

  it('name the subject first in rules of the specification, which are whole sentences', () =>
    deepEqual(
      linesOf(rules(), ({ text }) => hiddenSubject.test(text) || !/^[A-Z`&0-9{<].{14,}[.:]$/.test(text)),
      [],
    ));

  it('name the subject first in comments', () =>
    deepEqual(
      linesOf(sourceComments, ({ text }) => /^(what|who|whose|whom|how|where|that|those|which)\b/i.test(text)),
      [],
    ));

  it('name the value first in descriptions', () =>
    deepEqual(
      linesOf(descriptions, ({ text }) => hiddenSubject.test(text) || notTheThing.test(text)),
      [],
    ));

  it('end descriptions with a full stop', () =>
    deepEqual(
      linesOf(descriptions, ({ text }) => !/[.…:]$|%\{path\}$/.test(text)),
      [],
    ));

  it('state the default of every optional number, duration, boolean and enumeration in its description', () =>
    deepEqual(
      linesOf(descriptions, (each) => needsDefault(each) && !/Default:/.test(each.text)),
      [],
    ));

  it('contain no description that only repeats the name of its field', () =>
    deepEqual(
      linesOf(descriptions, ({ field, text }) => field !== '' && bare(text) === bare(field)),
      [],
    ));
});
