import { BaseError } from 'viem'

/** A long error of viem in one line: its own text holds the RPC's URL, in which there may be a key. */
export function summary(error: unknown): string {
  if (!(error instanceof BaseError)) return String(error)
  const root = error.walk()
  return root === error ? error.shortMessage : `${error.shortMessage} (${root.message.split('\n')[0]})`
}
