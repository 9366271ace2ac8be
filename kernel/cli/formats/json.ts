import type { Format } from './format.ts';

/** One JSON object, for programs: `{"valid","errors","warnings"}`. */
export const json: Format = {
  isForPeople: false,
  print: ({ errors, warnings }) => `${JSON.stringify({ valid: errors.length === 0, errors, warnings })}\n`,
};
