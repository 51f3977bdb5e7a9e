import { maxUint256, numberToHex, pad } from 'viem'
import { expect, it } from 'vitest'
import { createMockWallet, type WalletRequest } from '../../../../test/support/clients/mock-wallet.js'
import { readOnePrompt } from '../../src/deposits/one-prompt.js'

const USER = '0x00000000000000000000000000000000000000b2'
const TOKEN = '0x00000000000000000000000000000000000000c3'
const SETTLEMENT = '0x00000000000000000000000000000000000000d4'

it.each([
  ['the allowance of a wallet without batches', {}, 7n],
  ['the allowance where the wallet says nothing of the chain', { batches: 'ready', scope: '0x2' }, 7n],
  ['any amount where the wallet sends batches', { batches: 'supported', scope: '0x1' }, maxUint256],
] as const)('one prompt deposits %s', async (_what, says, amount) => {
  const asked: string[] = []
  const node = async ({ method }: WalletRequest) => {
    asked.push(method)
    return pad(numberToHex(7n))
  }
  const { client, prompts } = createMockWallet({ account: USER, node, ...says })
  expect(await readOnePrompt(client, TOKEN, { client, chainId: 1, settlement: SETTLEMENT })).toBe(amount)
  expect([asked, prompts]).toEqual([amount === 7n ? ['eth_call'] : [], []])
})
