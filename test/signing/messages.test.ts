import { bytesToHex, hashMessage, hexToBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import type { Address } from '../../src/domain/hex.js'
import {
  personalMessageDigest,
  registrationMessage,
  unregistrationMessage,
} from '../../src/signing/messages.js'
import { checkSignature } from '../../src/signing/recover.js'
import { createRandom } from '../support/random.js'

const MIXED_CASE: Address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const TEXT = {
  address: MIXED_CASE,
  endpointUrl: 'https://Solver.example.org/Api/',
  timestamp: 1_800_000_000_123,
}

test('the registration message is the four lines of the protocol', () => {
  expect(registrationMessage('Service', TEXT)).toBe(
    'Service Solver Registration\n' +
      'Address: 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed\n' +
      'Endpoint: https://Solver.example.org/Api/\n' +
      'Timestamp: 1800000000123',
  )
})

test('the unregistration message is three lines', () => {
  expect(unregistrationMessage('Service', TEXT)).toBe(
    'Service Solver Unregistration\n' +
      'Address: 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed\n' +
      'Timestamp: 1800000000123',
  )
})

test("the protocol's name begins both messages", () => {
  expect(registrationMessage('Acme', TEXT).split('\n')[0]).toBe('Acme Solver Registration')
  expect(unregistrationMessage('Acme', TEXT).split('\n')[0]).toBe('Acme Solver Unregistration')
})

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
    const text = { ...TEXT, address: account.address }
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
