import { bytesToHex, hashMessage, hexToBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { registrationMessage, unregistrationMessage } from '../../src/domain/solvers/registration-messages.js'
import type { Address } from '../../src/domain/values/hex.js'
import { personalMessageDigest } from '../../src/signing/personal-message.js'
import { checkSignature } from '../../src/signing/recover.js'
import { createRandom } from '../support/random.js'

const TERMS = { endpointUrl: 'https://Solver.example.org/Api/', timestamp: 1_800_000_000_123 }

describe('the digest of a personal message', () => {
  test.each([
    ['nothing', ''],
    ['one line', 'hello'],
    ['several lines', 'a\nb\r\nc\n'],
    ['text whose characters take several bytes', 'Größe 漢字 🙂'],
    ['text of more than a hundred bytes', 'é'.repeat(80)],
    ['text that looks like bytes in hex', '0x1234'],
  ])('of %s is equal to that of viem', (_what, message) => {
    expect(bytesToHex(personalMessageDigest(message))).toBe(hashMessage(message))
  })

  test('of any text is equal to that of viem', () => {
    const random = createRandom(2)
    for (let round = 0; round < 200; round++) {
      const message = random.text(120)
      expect(bytesToHex(personalMessageDigest(message)), message).toBe(hashMessage(message))
    }
  })
})

test("a wallet's signature over either message recovers to the wallet", async () => {
  const random = createRandom(3)
  for (let round = 0; round < 10; round++) {
    const account = privateKeyToAccount(random.hex(32))
    const text = { ...TERMS, address: account.address }
    for (const message of [registrationMessage('Acme', text), unregistrationMessage('Acme', text)]) {
      const signature = hexToBytes(await account.signMessage({ message }))
      const signer = account.address.toLowerCase() as Address
      expect(checkSignature(personalMessageDigest(message), signature, signer)).toBeUndefined()
      expect(checkSignature(personalMessageDigest(`${message} `), signature, signer)).toBe(
        'signature_mismatch',
      )
    }
  }
})
