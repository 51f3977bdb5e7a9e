import { Worker } from 'node:worker_threads'
import { secp256k1 } from '@noble/curves/secp256k1'
import { privateKeyToAddress } from 'viem/accounts'
import { expect, it, onTestFinished, vi } from 'vitest'
import {
  checkHere,
  createSignatureChecker,
  type SignatureChecker,
  type SignatureClaim,
} from '../../src/signing/signature-checker.js'
import { eventually } from '../support/eventually.js'
import { createRandom } from '../support/random.js'

const random = createRandom(77)
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** A signature that is the signer's, another one's, or of the wrong length. */
function randomClaim(): SignatureClaim {
  const [key, digest] = [random.bytes(32), random.bytes(32)]
  const signed = secp256k1.sign(digest, key)
  const signature = hexOf(signed.toCompactRawBytes()) + (27 + signed.recovery).toString(16)
  const signer = privateKeyToAddress(`0x${hexOf(random.integer(0, 2) === 0 ? random.bytes(32) : key)}`)
  return {
    digest: hexOf(digest),
    signature: random.integer(0, 5) === 0 ? signature.slice(2) : signature,
    signer: signer.toLowerCase() as SignatureClaim['signer'],
  }
}

const claims = Array.from({ length: 100 }, randomClaim)
const expected = checkHere(claims)

function open(onFailed: (error: unknown) => void, cores = 2): SignatureChecker {
  const checker = createSignatureChecker(onFailed, cores)
  onTestFinished(() => void checker.close())
  return checker
}

/** Until then, the calling thread answers at once. @returns the first answer of the thread */
async function firstOfThread(check: SignatureChecker['check']): Promise<unknown> {
  // In a list, so that the promise is not awaited.
  const [answer] = await eventually(
    async () => [check(claims)],
    ([found]) => found instanceof Promise,
  )
  return answer
}

it('the thread finds the same as the calling thread, for many rounds at the same time', async () => {
  const { check } = open((error) => expect.unreachable(String(error)))
  expect(await firstOfThread(check)).toEqual(expected)
  const problems = ['signature_length', 'signature_mismatch', undefined]
  for (const problem of problems) expect(expected).toContain(problem)
  const rounds = Array.from(
    { length: 20 },
    (_, index) => [index * 5, index * 5 + random.integer(0, 5)] as const,
  )
  const found = rounds.map(([from, to]) => check(claims.slice(from, to)))
  expect(await Promise.all(found)).toEqual(rounds.map(([from, to]) => expected.slice(from, to)))
})

it('before the thread has started and after it has failed, the calling thread checks, also what waits', async () => {
  const script = `const { parentPort } = require('node:worker_threads')
    parentPort.postMessage([])
    parentPort.on('message', () => { throw new Error('it fails') })`
  const startThread = () => new Worker(script, { eval: true })
  vi.doMock('../../src/concurrency/start-thread.js', () => ({ startThread }))
  vi.resetModules()
  const { createSignatureChecker } = await import('../../src/signing/signature-checker.js')
  const onFailed = vi.fn()
  const { check, close } = createSignatureChecker(onFailed, 2)
  expect(check(claims)).toEqual(expected)
  expect(await firstOfThread(check)).toEqual(expected)
  expect(check(claims)).toEqual(expected)
  expect(onFailed).toHaveBeenCalledTimes(1)
  await close()
})

it('without a second core, the calling thread checks at once', () => {
  expect(open(() => {}, 1).check(claims)).toEqual(expected)
})
