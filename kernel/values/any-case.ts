/** Pattern of these words in any letter case, without the help of flags. */
export function anyCase(words: readonly string[]): string {
  const spelled = words.map((word) =>
    word.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`),
  );
  return `^(${spelled.join('|')})$`;
}
