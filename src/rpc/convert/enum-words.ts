/** The name of a word in an enum of the protos. */
export function toUpperCase<Word extends string>(word: Word): Uppercase<Word> {
  return word.toUpperCase() as Uppercase<Word>
}

/** Words by their numbers in an enum of the protos. */
export function byNumber<Word extends string>(
  words: readonly Word[],
  numbers: Readonly<Record<Uppercase<Word>, number>>,
): Readonly<Record<number, Word>> {
  return Object.fromEntries(words.map((word) => [numbers[toUpperCase(word)], word]))
}
