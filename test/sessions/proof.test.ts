import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { lowerCase } from '../../packages/protocol/src/values/hex.js'
import { assertProof, createChallenge } from '../../src/sessions/proof.js'
import { signedHello } from '../support/sessions/session-solver.js'

const account = privateKeyToAccount(`0x${'01'.repeat(32)}`)
const SENT_AT = 1_000_000
const PUBLIC_URL = 'https://quotes.example'
const DIALLED = 'http://127.0.0.1:8080'

test.each<[string, string, object, string | undefined]>([
  ['30 s after its challenge', PUBLIC_URL, { afterMs: 30_000 }, undefined],
  ['later than that', PUBLIC_URL, { afterMs: 30_001 }, 'CHALLENGE_EXPIRED'],
  ['for the origin that was dialled', DIALLED, {}, undefined],
  ['for that origin in production', DIALLED, { production: true }, 'AUDIENCE_REJECTED'],
  ['for a public origin in production', PUBLIC_URL, { production: true }, undefined],
  ['for another instance', 'https://other.example', {}, 'AUDIENCE_REJECTED'],
])('a hello that is signed %s has the error %4$s', async (_what, audience, change, reason) => {
  const { afterMs = 0, production = false } = change as { afterMs?: number; production?: boolean }
  const challenge = createChallenge(SENT_AT)
  const { signature } = await signedHello(account, { audience, chainIds: [1] }, challenge.nonce)
  const address = lowerCase(account.address)
  const hello = { address, name: 'A solver', audience, chainIds: [1], signature, events: undefined }
  const rules = { protocolName: 'Service', publicUrls: [PUBLIC_URL], production }
  const call = { origins: [DIALLED], now: SENT_AT + afterMs }
  const check = () => assertProof(hello, challenge, rules, call)
  if (reason === undefined) expect(check).not.toThrow()
  else expect(check).toThrow(expect.objectContaining({ reason }))
})
