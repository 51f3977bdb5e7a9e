import { ChainReadError, depositCalls } from '@quote-aggregator/client'
import { decodeFunctionData, erc20Abi, RpcRequestError, toFunctionSelector } from 'viem'
import { describe, expect, it } from 'vitest'
import { INPUT_AMOUNT, user } from '../../../../test/support/chain/settlement.js'
import { OrderState } from '../../../../test/support/chain/signed-quote.js'
import { useDeposits } from '../../../../test/support/clients/deposits.js'
import type { WalletRequest } from '../../../../test/support/clients/mock-wallet.js'

const deposits = useDeposits('reference', true)
const { node, offerOf, stateOf, terms } = deposits
const tokenOf = (kind: string) => (kind === 'usual' ? deposits.chain.contracts.weth : deposits.oldToken)

describe.each(['usual', 'old'])('the calls of a deposit of a token of the %s kind', (kind) => {
  const exactly = `approve ${INPUT_AMOUNT}`
  it.each([
    ['nothing', 0n, [exactly, 'deposit']],
    ['too little', INPUT_AMOUNT - 1n, [...(kind === 'old' ? ['approve 0'] : []), exactly, 'deposit']],
    ['enough', INPUT_AMOUNT, ['deposit']],
  ] as const)('approve exactly the input where %s is allowed', async (_, allowed, expected) => {
    const { approve, contracts } = deposits.chain
    const inputToken = tokenOf(kind)
    if (allowed > 0n) await approve(inputToken, user, allowed)
    const offer = await offerOf({ inputToken })
    const { client } = deposits.walletOf()
    const done: string[] = []
    for (const { to, data } of await depositCalls(offer, await terms())) {
      const { args } = to === inputToken ? decodeFunctionData({ abi: erc20Abi, data }) : { args: undefined }
      if (args) expect(args[0]).toBe(contracts.settlement)
      done.push(args ? `approve ${args[1]}` : 'deposit')
      await client.sendTransaction({ to, data, chain: null })
    }
    expect(done).toEqual(expected)
    await expect.poll(() => stateOf(offer)).toBe(OrderState.DEPOSITED)
  })
})

describe('the calls of a deposit where an allowance is left', () => {
  const body = { method: 'eth_call' }
  const approve = toFunctionSelector('approve(address,uint256)')

  /** The calls, by a node that answers an approval which it does not accept in another way. */
  async function callsBy(refusal: unknown) {
    await deposits.chain.approve(deposits.oldToken, user, INPUT_AMOUNT - 1n)
    const settlement = await terms((request: WalletRequest) => {
      const [call] = (request.params ?? []) as [{ readonly data?: string }?]
      return call?.data?.startsWith(approve) ? Promise.reject(refusal) : node(request)
    })
    return depositCalls(await offerOf({ inputToken: deposits.oldToken }), settlement)
  }

  it.each([
    { code: -32015, message: 'VM execution error.' },
    { code: -32000, message: 'VM Exception while processing transaction' },
    { code: -32603, message: 'Internal error' },
    { code: 3, message: 'execution reverted' },
    { code: -32005, message: 'limit exceeded' },
  ])('set it to zero first when the node answers an approval with %j', async (error) => {
    expect(await callsBy(new RpcRequestError({ body, error, url: 'http://node' }))).toHaveLength(3)
  })

  it('are an error, and no reason to reset it, while the node is out of reach', async () => {
    const settlement = await terms()
    const offer = await offerOf({ inputToken: deposits.oldToken })
    deposits.setConnected(false)
    await expect(depositCalls(offer, settlement)).rejects.toThrow(ChainReadError)
  })
})
