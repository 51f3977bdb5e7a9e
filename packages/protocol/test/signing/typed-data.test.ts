import {
  bytesToHex,
  domainSeparator,
  encodeAbiParameters,
  getContractAddress,
  hashStruct,
  hashTypedData,
  hexToBytes,
  keccak256,
  parseAbiParameters,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { QUOTE_MEMBERS } from '../../../../test/support/chain/signed-quote.js'
import { createRandom, type Random } from '../../../../test/support/random.js'
import { randomQuote } from '../../../../test/support/solvers/sample-quotes.js'
import { ORDER_TYPES, type Quote } from '../../src/quotes/quote.js'
import { createQuoteHasher } from '../../src/signing/typed-data.js'
import type { Hex } from '../../src/values/hex.js'

const ROUNDS = 150

/** A random settlement contract, for viem and for the hasher. */
function randomContract(random: Random, protocolName: string) {
  const settlement = random.hex(20)
  const codeHash = random.hex(32)
  const domain = {
    name: random.pick(['Service', 'Acme Settlement', protocolName]),
    version: random.pick(['1', '2.0']),
    chainId: random.integer(1, 2 ** 32),
    verifyingContract: settlement,
  }
  const hasher = createQuoteHasher(protocolName, {
    settlement,
    domainSeparator: domainSeparator({ domain }),
    depositProxyCodeHash: codeHash,
  })
  return { settlement, codeHash, domain, hasher }
}

function typedData(protocolName: string, quote: Quote) {
  return {
    types: { [`${protocolName}Quote`]: QUOTE_MEMBERS },
    primaryType: `${protocolName}Quote`,
    message: {
      ...quote,
      orderType: ORDER_TYPES.indexOf(quote.orderType),
      outputChainId: BigInt(quote.outputChainId),
    },
  }
}

/** `keccak256(abi.encode(structHash, keccak256(signature)))` (docs/decisions.md, D4). */
function orderIdOf(structHash: Hex, signature: Hex): Hex {
  return keccak256(
    encodeAbiParameters(parseAbiParameters('bytes32, bytes32'), [structHash, keccak256(signature)]),
  )
}

describe.each(['Service', 'Acme', 'my_protocol_2'])('quotes of the protocol %s', (protocolName) => {
  test('have the same struct hash and digest as in viem', () => {
    const random = createRandom(21)
    for (let round = 0; round < ROUNDS; round++) {
      const { hasher, domain } = randomContract(random, protocolName)
      const quote = randomQuote(random)
      const { types, primaryType, message } = typedData(protocolName, quote)
      const { structHash, digest } = hasher.hash(quote)
      expect(bytesToHex(structHash)).toBe(hashStruct({ types, primaryType, data: message }))
      expect(bytesToHex(digest)).toBe(hashTypedData({ domain, types, primaryType, message }))
    }
  })

  test('have the same order id and CREATE2 deposit address as in viem', () => {
    const random = createRandom(22)
    for (let round = 0; round < ROUNDS; round++) {
      const { hasher, settlement, codeHash } = randomContract(random, protocolName)
      const { structHash } = hasher.hash(randomQuote(random))
      const signature = random.hex(65)
      const orderId = orderIdOf(bytesToHex(structHash), signature)
      const depositAddress = getContractAddress({
        opcode: 'CREATE2',
        from: settlement,
        salt: orderId,
        bytecodeHash: codeHash,
      })
      expect(hasher.identify(structHash, hexToBytes(signature))).toEqual({
        orderId,
        depositAddress: depositAddress.toLowerCase(),
      })
    }
  })
})
