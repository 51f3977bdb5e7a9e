import { availableParallelism } from 'node:os'
import { startThread } from '../concurrency/start-thread.js'
import type { Address } from '../domain/hex.js'
import { checkSignature, type SignatureProblem } from './recover.js'

/** A signature, and who is said to have made it. Text takes less time than bytes on its way to a thread. */
export interface SignatureClaim {
  /** What was signed, 32 bytes as hex digits. */
  readonly digest: string
  /** r, s and v as hex digits. */
  readonly signature: string
  readonly signer: Address
}

/** For each signature what is wrong with it, or undefined when it is the signer's. */
export type SignatureProblems = (SignatureProblem | undefined)[]

/** Checks signatures as `checkSignature` does, while this thread does something else. */
export interface SignatureChecker {
  check(claims: readonly SignatureClaim[]): Promise<SignatureProblems> | SignatureProblems
  close(): Promise<unknown>
}

/**
 * Builds the checker, with one thread. Without a second core, until the thread has started, and after it has failed, the calling
 * thread checks.
 * @param onFailed called when the thread has failed
 */
export function createSignatureChecker(
  onFailed: (error: unknown) => void,
  cores = availableParallelism(),
): SignatureChecker {
  if (cores === 1) return { check: checkHere, close: async () => {} }
  const waiting: { claims: readonly SignatureClaim[]; resolve: (problems: SignatureProblems) => void }[] = []
  let isReady = false
  const thread = startThread('signature-thread', import.meta.url, undefined)
  thread.unref()
  thread.on('message', (problems: SignatureProblems) => {
    // The first message says that it has started.
    isReady = true
    waiting.shift()?.resolve(problems)
  })
  thread.on('error', (error) => {
    isReady = false
    for (const { claims, resolve } of waiting.splice(0)) resolve(checkHere(claims))
    onFailed(error)
  })
  return {
    check(claims) {
      if (!isReady || claims.length === 0) return checkHere(claims)
      thread.postMessage(claims)
      return new Promise((resolve) => waiting.push({ claims, resolve }))
    },
    close: () => thread.terminate(),
  }
}

/** Checks signatures on the calling thread. */
export function checkHere(claims: readonly SignatureClaim[]): SignatureProblems {
  return claims.map(({ digest, signature, signer }) =>
    checkSignature(Buffer.from(digest, 'hex'), Buffer.from(signature, 'hex'), signer),
  )
}
