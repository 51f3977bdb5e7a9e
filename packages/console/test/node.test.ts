import { ChainReadError } from '@quote-aggregator/client'
import { ChainMismatchError, type EIP1193Provider } from 'viem'
import { expect, it } from 'vitest'
import { describeWalletError } from '../src/wallet/describe-error.js'
import { createNodeClient } from '../src/wallet/node.js'

const CHAIN_ID = 31337
const BLOCK = { method: 'eth_blockNumber' } as const

function revert(): never {
  throw Object.assign(new Error('execution reverted'), { code: 3 })
}

/** A wallet that is on these chains, one after the other, at each question for its chain. The last one stays. */
function walletOn(chains: readonly number[], answer: () => unknown = () => '0x1') {
  const left = [...chains]
  const request = async ({ method }: { readonly method: string }) => {
    if (method !== 'eth_chainId') return answer()
    return `0x${((left.length > 1 ? left.shift() : left[0]) as number).toString(16)}`
  }
  return createNodeClient({ request: request as EIP1193Provider['request'] }, CHAIN_ID)
}

/** What a read of the chain says, without repetitions. */
const read = (client: ReturnType<typeof walletOn>) =>
  client.request(BLOCK, { retryCount: 0 }).catch((error: unknown) => error)

it('what the node of a wallet says counts while the wallet is on the chain', async () => {
  expect(await read(walletOn([CHAIN_ID]))).toBe('0x1')
  expect(await read(walletOn([CHAIN_ID], revert))).toMatchObject({ details: 'execution reverted' })
})

it('what it says of another chain does not, be it a value or a revert, before the change or after it', async () => {
  for (const chains of [[10], [10, CHAIN_ID], [CHAIN_ID, 10]])
    for (const answer of [undefined, revert]) {
      const error = await read(walletOn(chains, answer))
      expect(error).toBeInstanceOf(ChainMismatchError)
      const asClientHasIt = new ChainReadError('failed', 'orders could not be read', error)
      expect(describeWalletError(asClientHasIt)).toContain('changed to another chain')
    }
})
