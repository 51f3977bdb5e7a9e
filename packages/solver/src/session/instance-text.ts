import { replaceUnprintable } from '../../../protocol/src/values/text.js'

const MAX_SENTENCE_CHARACTERS = 1_000

/** A sentence of an instance, which logs, callbacks and terminals get: cut, and without characters that a terminal executes or hides. */
export function instanceSentence(words: string): string {
  return replaceUnprintable(words.slice(0, MAX_SENTENCE_CHARACTERS))
}
