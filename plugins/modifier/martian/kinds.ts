import { isObject, type Schema } from '#contract';
import { bodyModifier, statusModifier } from './content.ts';
import { cookieFilter, cookieModifier } from './cookies.ts';
import { fifoGroup, priorityGroup } from './groups.ts';
import {
  headerAppend,
  headerBlacklist,
  headerCopy,
  headerFilter,
  headerId,
  headerModifier,
  headerRegexFilter,
  stashModifier,
} from './headers.ts';
import { declareModifiers, type Kind, type Modifier, type Place } from './modifier.ts';
import {
  portFilter,
  portModifier,
  querystringFilter,
  querystringModifier,
  urlFilter,
  urlModifier,
  urlRegexFilter,
} from './urls.ts';

/** All modifiers of the language, by name. */
const kinds: Readonly<Record<string, Kind>> = {
  'header.Modifier': headerModifier,
  'header.Append': headerAppend,
  'header.Copy': headerCopy,
  'header.Blacklist': headerBlacklist,
  'header.Id': headerId,
  'header.Filter': headerFilter,
  'header.RegexFilter': headerRegexFilter,
  'body.Modifier': bodyModifier,
  'cookie.Modifier': cookieModifier,
  'cookie.Filter': cookieFilter,
  'querystring.Modifier': querystringModifier,
  'querystring.Filter': querystringFilter,
  'url.Modifier': urlModifier,
  'url.Filter': urlFilter,
  'url.RegexFilter': urlRegexFilter,
  'port.Modifier': portModifier,
  'port.Filter': portFilter,
  'stash.Modifier': stashModifier,
  'status.Modifier': statusModifier,
  'fifo.Group': fifoGroup,
  'priority.Group': priorityGroup,
};

const names = Object.keys(kinds);

/** Schema of one modifier: an object whose only key is the modifier's name. */
export const modifierSchema: { readonly type: 'object' } = declareModifiers({
  type: 'object',
  title: 'Martian modifier',
  description: 'A modifier or group of modifiers: an object with a single key, the type of the modifier.',
  examples: [
    { 'header.Modifier': { name: 'Authorization', value: 'Basic eA==', scope: ['request'] } },
    {
      'fifo.Group': {
        modifiers: [
          { 'querystring.Modifier': { name: 'amount', value: '75' } },
          {
            'cookie.Filter': {
              name: 'beta',
              value: 'yes',
              modifier: { 'url.Modifier': { host: 'beta.example.com:8080' } },
              else: { 'header.Blacklist': { names: ['Cookie'], scope: ['request'] } },
              scope: ['request'],
            },
          },
          { 'body.Modifier': { body: 'eyJtIjoxfQ==', contentType: 'application/json', scope: ['response'] } },
        ],
      },
    },
  ],
  properties: Object.fromEntries(names.map((name) => [name, kinds[name]!.schema])),
  published: {
    allOf: [{ oneOf: names.map((name) => ({ properties: { [name]: {} }, required: [name] })) }],
  },
} satisfies Schema);

/** Compiles a modifier, under the namespace or inside another modifier. @param under pointer relative to `place`. */
export function compileModifier(written: unknown, place: Place): Modifier {
  const [name, ...others] = isObject(written) ? Object.keys(written) : [];
  if (name === undefined) throw place.fault('', 'the modifier is missing', { hint: names.join(', ') });
  if (others.length > 0) {
    throw place.fault('', `only one modifier is allowed, found ${[name, ...others].join(' and ')}`, {
      hint: 'use "fifo.Group": {"modifiers": [...]} to combine several',
    });
  }
  return kinds[name]!.compile((written as Record<string, never>)[name] as never, within(place, `/${name}`));
}

/** Returns a context for a nested modifier, whose pointers begin with `step`. */
function within(place: Place, step: string): Place {
  return {
    fault: (at, message, options) => place.fault(step + at, message, options),
    warn: (at, message, options) => place.warn(step + at, message, options),
    pattern: (source, at) => place.pattern(source, step + at),
    inner: (written, at) => compileModifier(written, within(place, step + at)),
    sets: (name) => place.sets(name),
    identifies: (name) => place.identifies(name),
  };
}
