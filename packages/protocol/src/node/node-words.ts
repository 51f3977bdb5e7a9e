import { replaceUnprintable } from '../values/text.js'
import { partsOf } from './revert.js'

const MAX_CHARACTERS = 500
/** What is shorter, such as `v2`, is no key. */
const MIN_KEY_CHARACTERS = 6
/** After the scheme, nothing and the host. */
const FIRST_PATH_PART = 3
/** A URL after its scheme. What comes before its host and after it may have a key. */
const URL_PARTS = /:\/\/([^\s/@]*@)?([^\s/?#"']*)[^\s"']*/g

/** What a node, or viem for it, says of a failure, in one line. It has no key of the node, no request and no ABI. */
export function wordsOf(error: unknown): string {
  const parts = partsOf(error)
  // The details of viem are the node's words; its own say less.
  const texts = parts.flatMap(({ shortMessage, message, status, details }) => [
    status,
    details || shortMessage || message,
  ])
  let words = [...new Set(texts)].filter(Boolean).join(' ') || String(error)
  // A node may quote the path and the query at which it was asked, and one part of them may be a key.
  for (const { url } of parts)
    for (const part of String(url)
      .split(/[/?&=#]/)
      .slice(FIRST_PATH_PART))
      if (part.length >= MIN_KEY_CHARACTERS) words = words.replaceAll(part, '…')
  // A contract, too, may choose the words: a terminal must execute none.
  return replaceUnprintable(words.replace(URL_PARTS, '://$2').replace(/\s+/g, ' ')).slice(0, MAX_CHARACTERS)
}

/** An error as callers and logs get it: those of viem, also as causes, are reduced to words, after the name of the function. */
export function reportable(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { functionName } = error as { functionName?: string }
  const name = functionName ? `${functionName}: ` : ''
  if ('shortMessage' in error) return new Error(`${name}${wordsOf(error)}`)
  if (error.cause !== undefined) error.cause = reportable(error.cause)
  return error
}
