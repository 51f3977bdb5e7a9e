import type { BaseError } from 'viem'

const MAX_CHARACTERS = 500
/** A URL, with what comes before its host and after it, which may have a key. */
const URL_PARTS = /\b((?:http|ws)s?:\/\/)(?:[^\s/@]*@)?([^\s/?#"']*)[^\s"']*/gi

/** What a node, or viem for it, says of a failure. It has no key of the node, no request and no ABI. */
export function wordsOf(error: unknown): string {
  const { shortMessage, details, message } = error as Partial<BaseError> & Error
  const words = [...new Set([shortMessage ?? message ?? error, details])].filter((text) => text).join(' ')
  return words.replace(URL_PARTS, '$1$2').slice(0, MAX_CHARACTERS)
}

/** An error as callers and logs get it: those of viem, also as causes, are reduced to words. */
export function reportable(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if ('shortMessage' in error) return new Error(wordsOf(error))
  if (error.cause !== undefined) error.cause = reportable(error.cause)
  return error
}
