import { replaceUnprintable } from '../../../protocol/src/values/text.js'

/** They go into logs: an instance must not make them long. */
const MAX_CHARACTERS = 256
const MAX_SENTENCE_CHARACTERS = 1_000

/**
 * A text of an instance, which logs, callbacks and terminals get: without characters that a terminal executes or hides.
 * @returns undefined for another value, and for a text that is too long
 */
export function instanceText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_CHARACTERS) return undefined
  return replaceUnprintable(value)
}

/** A sentence of an instance, likewise, and cut. */
export function instanceSentence(words: string): string {
  return replaceUnprintable(words.slice(0, MAX_SENTENCE_CHARACTERS))
}
