import { syntaxFault, type TextFault } from './text-format.ts';

const marks = /^(?:<{7}|\|{7}|={7}|>{7})(?:[ \t].*)?$/gm;

/** The marks that a merge has left in a text, as one mistake; undefined for a text without a beginning of one. */
export function conflictMarks(text: string): TextFault | undefined {
  if (!/^<{7}/m.test(text)) return undefined;
  const [first, ...others] = Array.from(text.matchAll(marks), ({ 0: mark, index }) => ({
    start: index,
    end: index + mark.trimEnd().length,
  }));
  return (
    first && {
      ...syntaxFault('merge conflict marks', first, 'keep one of the versions and remove the marks'),
      related: others.map((stretch) => ({ message: 'another mark', stretch })),
    }
  );
}
