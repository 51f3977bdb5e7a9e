import type { BaseError } from 'viem'
import { rpcErrorIn } from '../../../chain/src/rpc-error.js'

const MAX_CHARACTERS = 500
/** What is shorter, such as `v2`, is no key. */
const MIN_KEY_CHARACTERS = 6
/** A URL, with what comes before its host and after it, which may have a key. */
const URL_PARTS = /\b((?:http|ws)s?:\/\/)(?:[^\s/@]*@)?([^\s/?#"']*)[^\s"']*/gi

/** What a node, or viem for it, says of a failure. It has no key of the node, no request and no ABI. */
export function wordsOf(error: unknown): string {
  const found = rpcErrorIn(error)
  if (found !== undefined && found.kind !== 'answered') return found.message
  const { shortMessage, details, message } = error as Partial<BaseError> & Error
  const words = [...new Set([shortMessage ?? message ?? error, details])].filter((text) => text).join(' ')
  const shown = secretsOf(error).reduce((text, secret) => text.replaceAll(secret, '…'), words)
  return shown.replace(URL_PARTS, '$1$2').slice(0, MAX_CHARACTERS)
}

/** The parts of the path and query of a node, of which one may be a key: a node may quote what it was asked. */
function secretsOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const [, , , ...parts] = 'url' in error ? String(error.url).split(/[/?&=#]/) : []
  return [...parts.filter(({ length }) => length >= MIN_KEY_CHARACTERS), ...secretsOf(error.cause)]
}

/** An error as callers and logs get it: those of viem, also as causes, are reduced to words. */
export function reportable(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if ('shortMessage' in error) return new Error(wordsOf(error))
  if (error.cause !== undefined) error.cause = reportable(error.cause)
  return error
}
