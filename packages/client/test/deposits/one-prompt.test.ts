import { createWalletClient, custom, maxUint256, numberToHex, pad } from 'viem'
import { expect, it } from 'vitest'
import { readOnePrompt } from '../../src/deposits/one-prompt.js'

const USER = '0x00000000000000000000000000000000000000b2'
const TOKEN = '0x00000000000000000000000000000000000000c3'
const SETTLEMENT = '0x00000000000000000000000000000000000000d4'

/** A wallet that says this of its batches, and whose node has this allowance. */
function walletOf(capabilities: unknown, allowed: bigint) {
  const asked: string[] = []
  const provider = {
    async request({ method }: { method: string }) {
      asked.push(method)
      if (method === 'eth_call') return pad(numberToHex(allowed))
      if (capabilities instanceof Error) throw capabilities
      return capabilities
    },
  }
  return { wallet: createWalletClient({ account: USER, transport: custom(provider) }), asked }
}

it.each<[string, unknown, bigint]>([
  ['the allowance of a wallet without batches', new Error('no such method'), 7n],
  [
    'the allowance where the wallet says nothing of the chain',
    { '0x2': { atomic: { status: 'ready' } } },
    7n,
  ],
  ['any amount where the wallet sends batches', { '0x1': { atomic: { status: 'supported' } } }, maxUint256],
])('one prompt deposits %s', async (_what, capabilities, amount) => {
  const { wallet, asked } = walletOf(capabilities, 7n)
  const terms = { client: wallet, chainId: 1, settlement: SETTLEMENT } as const
  expect(await readOnePrompt(wallet, TOKEN, terms)).toBe(amount)
  // None of them has a prompt.
  expect(asked.filter((method) => !['wallet_getCapabilities', 'eth_call'].includes(method))).toEqual([])
})
