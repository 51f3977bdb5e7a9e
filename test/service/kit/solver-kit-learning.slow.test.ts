import { type Address, createPublicClient, custom, encodeErrorResult, type PublicClient } from 'viem'
import { afterAll, describe, expect, it } from 'vitest'
import { deployedSettlementAbi } from '../../../gen/contracts/deployed-settlement.js'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { createDepositAddresses } from '../../../packages/solver/src/risk/deposit-addresses.js'
import { openState } from '../../../packages/solver/src/state.js'
import type { Rules } from '../../support/chain/chain.js'
import { compileSource } from '../../support/chain/deploy-source.js'
import { type Fixture, solver, startSettlement } from '../../support/chain/settlement.js'
import { only } from '../../support/only.js'

const chains: Fixture[] = []
afterAll(() => Promise.all(chains.map((chain) => chain.stop())))

/** @returns what the kit learns by a cancelled quote of a token whose transfers revert with `revertData` */
async function learn(rules: Rules, revertData: `0x${string}`): Promise<boolean> {
  const chain = await startSettlement(rules)
  chains.push(chain)
  const { client, devnet, chainId, contracts } = chain
  const token = compileSource('HostileToken')
  const inputToken = await token.deploy(devnet)
  const call = { address: inputToken, abi: token.abi, functionName: 'revertWith', args: [revertData] }
  await client.waitForTransactionReceipt({
    hash: await client.writeContract({ ...call, account: solver, chain: null }),
  })
  const { quote, signature, orderId, depositAddress } = await chain.signedQuote({ inputToken })
  await chain.send(solver, 'cancelNonce', [quote.nonce])
  await chain.nextBlockAt(quote.fillDeadline + 1)
  await client.mine({ blocks: 1 })
  const state = openState(':memory:')
  const signed = {
    chainId,
    orderId,
    depositAddress,
    signature,
    isForAddress: true,
    quote: { ...quote, orderType: 'EXACT_INPUT', outputChainId: chainId } as const,
  }
  state.addQuote(signed)
  state.endQuote(orderId, quote.fillDeadline + 1)
  const settlement: Address = contracts.settlement
  const blockNumber = await client.getBlockNumber()
  const reader: PublicClient = createPublicClient({ transport: custom(client) })
  const kitChain = { chainId, settlement, client: reader }
  const time = { passed: () => quote.fillDeadline + 2, atDepth: () => ({ blockNumber }) }
  const addresses = createDepositAddresses(only({ chain: kitChain, solver: solver.address, state, time }))
  await addresses.learn()
  const known = state.position(`keeps tokens ${chainId} ${settlement}`)
  expect(known).toBeDefined()
  return known === 'yes'
}

describe('what a contract does with tokens at a deposit address is learnt from the contract, whatever the token reverts with', () => {
  const used = encodeErrorResult({ abi: deployedSettlementAbi, errorName: 'NonceAlreadyUsed' })
  const nothing = encodeErrorResult({
    abi: settlementAbi,
    errorName: 'NothingDeposited',
    args: [`0x${'00'.repeat(32)}`],
  })

  it.each([
    ['reference', used, false],
    ['deployed', nothing, true],
  ] as const)('on a %s contract', async (rules, revertData, keepsTokens) => {
    expect(await learn(rules, revertData)).toBe(keepsTokens)
  })
})
